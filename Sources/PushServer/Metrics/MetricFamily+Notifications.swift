// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushServing
internal import PushStore

extension MetricFamily {
    /// All metrics, by subject.
    static let groups: [(subject: String, families: [MetricFamily])] = [
        ("Notifications", notifications), ("Durations", durations), ("Connections and loops", connections),
        ("Store, certificate and webhooks", store), ("Cluster", cluster), ("Process", process),
    ]

    static let all = groups.flatMap(\.families)

    /// Notifications, and what the server refused.
    private static let notifications: [MetricFamily] = [
        .counter("posthorn_notifications_accepted", "Notifications and broadcasts that were answered with 200.") {
            [Sample($0.store[.accepted])]
        },
        .counter(
            "posthorn_notifications_ended",
            "Accepted notifications that no longer wait for their device, by the reason.", by: "reason"
        ) { source in
            [
                Sample(source.store[.acknowledged], "acknowledged"), Sample(source.store[.collapsed], "collapsed"),
                Sample(source.store[.expired], "expired"), Sample(source.store[.dropped], "dropped"),
                Sample(source.store[.unregistered], "unregistered"),
            ]
        },
        .gauge("posthorn_notifications_pending", "Accepted notifications that wait for their device.") {
            [Sample($0.store[.pending])]
        },
        .gauge(
            "posthorn_notifications_unwritten",
            "Notifications that are neither acknowledged nor on the disk, and whose provider usually still waits."
        ) { source in
            [Sample(source.store[.unwritten] + source.sum(\.host.unwritten.value))]
        },
        .counter("posthorn_outcomes", "Outcomes that devices reported.", by: "outcome") { source in
            DeviceAPI.Outcome.allCases.map { Sample(source.store.count(of: $0), $0.rawValue) }
        },
        .counter(
            "posthorn_acknowledgements_ignored",
            "Acknowledgements of notifications that the device did not get, and repeated outcomes."
        ) { [Sample($0.store[.ignoredAcknowledgements])] },
        .counter(
            "posthorn_rejections",
            "Refused requests to the provider API and the send API, by the reason in the answer.",
            by: "reason"
        ) { source in
            let apis = source.metrics.apis
            return RejectionReason.allCases.map { reason in
                Sample(apis.reduce(0) { $0 + $1.count(of: reason) }, reason.rawValue)
            }
                + SendRefusal.allCases.map { reason in
                    Sample(apis.reduce(0) { $0 + $1.count(of: reason) }, reason.rawValue)
                }
        },
        .counter(
            "posthorn_refusals",
            "Requests that exceeded a limit of unauthenticated peers, devices or providers.", by: "principal", "cause"
        ) { source in
            let rates = source.context.settings.rates
            return RefusalCause.allCases.map { Sample(rates.count(of: $0), $0.principal, $0.word) }
        },
        .gauge("posthorn_apps", "Apps.") { [Sample($0.store[.apps])] },
        .gauge("posthorn_devices", "Enrolled devices.") { [Sample($0.store[.devices])] },
        .gauge("posthorn_devices_connected", "Devices with an open stream.") {
            [Sample($0.store[.devicesConnected])]
        },
        .gauge(
            "posthorn_devices_cut_off",
            "Devices that do not trust the server's certificate and cannot connect; determined once a minute."
        ) { source in source.cutOffDeviceCount.map { [Sample(Int64($0))] } ?? [] },
        .gauge("posthorn_registrations", "Active registrations of apps on devices.") {
            [Sample($0.store[.registrations])]
        },
    ]

    /// The times that notifications take.
    private static let durations: [MetricFamily] = [
        .histogram(
            "posthorn_accept_duration_seconds", "The time from a complete request to its acceptance with 200."
        ) { source in source.merged(source.metrics.apis.map(\.accept)) },
        .histogram(
            "posthorn_delivery_duration_seconds",
            "The time from the arrival of a notification to its delivery, for devices that were connected already."
        ) { source in source.merged(source.metrics.apis.map(\.delivery)) },
        .histogram(
            "posthorn_acknowledgement_duration_seconds",
            "The time from a delivery to its acknowledgement, of one notification of each device at a time."
        ) { source in
            source.merged(source.metrics.loops.map(\.host.acknowledgement) + [source.store.acknowledgement])
        },
        .histogram(
            "posthorn_commit_duration_seconds",
            "The duration of a transaction of the store, including the synchronization of the disk."
        ) { source in source.merged([source.store.commit]) },
    ]
}
