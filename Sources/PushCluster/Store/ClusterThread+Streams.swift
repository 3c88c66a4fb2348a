// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// The streams that devices open.
extension ClusterThread {
    /// Opens a stream.
    ///
    /// An attacker can put the ID of any device into a secret. While the device has a stream with another secret, a
    /// worker verifies the new secret before the new stream replaces the earlier one. The shard verifies all other
    /// secrets when it registers the stream.
    func attach(
        _ credential: DeviceCredential, _ stream: ReplyAddress, _ agent: String, _ store: ClusterStore
    ) {
        if let device = credential.device,
            store.host.stream(of: device).map({ credential.hasHash($0.secretHash) }) ?? true
        {
            return attach(device, credential, stream, agent, store)
        }
        let hint = credential.device == nil ? credential.secretHash.first : 1
        let job = RequestWorker.Job.identify(credential, stream: stream, agent: agent)
        submit(job, to: workers[credential.device, hint], answer: stream)
    }

    /// Opens the stream of a device whose secret a worker has verified, or the shard verifies with the registration.
    func attach(
        _ device: DeviceID, _ credential: DeviceCredential, _ stream: ReplyAddress, _ agent: String,
        _ store: ClusterStore
    ) {
        store.attach(device, secretHash: credential.secretHash, stream: stream)
        // If the node refuses the new stream, the device keeps its earlier one.
        guard let opened = store.host.stream(of: device), opened.address == stream else { return }
        opened.agent = agent
    }

    /// Records that devices were seen, once the shards have accepted their streams.
    func noteSeen(_ replies: [StoreReply]) {
        for case .attached(let device, _) in replies {
            _ = workers[device, 1].submit(.noteSeen(device, agent: store?.host.stream(of: device)?.agent))
        }
    }
}
