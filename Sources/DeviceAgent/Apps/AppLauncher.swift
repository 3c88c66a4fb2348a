// SPDX-License-Identifier: Apache-2.0

internal import LinuxDesktop
internal import PushCore
internal import PushDBus
internal import PushNet

/// Opens apps with a notification, and calls them in the background.
///
/// The notification is passed as JSON: as the parameter of the action `view-notification`, or in the environment
/// variable `POSTHORN_NOTIFICATION`. The members `action` and `text`, and the variables `POSTHORN_ACTION` and
/// `POSTHORN_TEXT`, hold the button that the user chose and the typed text.
final class AppLauncher: AppOpener {
    /// The action of `org.freedesktop.Application` that gets the notification.
    static let actionName = "view-notification"
    /// The maximum size of a notification that is passed to an app, in bytes; Linux limits an environment variable to
    /// 128 KiB.
    static let notificationByteCountMax = 64 * 1024

    let connection: BusConnection
    private let starter: AppStarter
    private let linkOpener: LinkOpener

    /// Creates the launcher with its means of finding and starting apps.
    ///
    /// - Parameters:
    ///   - connection: The session bus, driven by the caller.
    ///   - loop: The loop that drives it.
    ///   - environment: The agent's environment; apps get it without the agent's private variables.
    init(connection: BusConnection, loop: EventLoop, environment: [String: String]) {
        self.connection = connection
        starter = AppStarter(connection: connection, loop: loop, environment: environment)
        linkOpener = LinkOpener(connection: connection, loop: loop, environment: environment)
    }

    func open(
        appID: AppID, notification: [UInt8], action: ChosenAction?, activationToken: String?,
        completion: @escaping (Result<Void, AppOpenError>) -> Void
    ) {
        guard let entry = starter.find(appID) else { return completion(.failure(.noDesktopFile(appID: appID))) }
        guard notification.count <= AppLauncher.notificationByteCountMax else {
            return completion(.failure(.failed("the notification has \(notification.count) bytes")))
        }
        let opening = Self.opening(String(decoding: notification, as: UTF8.self), action, activationToken)
        starter.open(entry, opening, completion: completion)
    }

    func launch(
        appID: AppID, activationToken: String?, completion: @escaping (Result<Void, AppOpenError>) -> Void
    ) {
        guard let entry = starter.find(appID) else { return completion(.failure(.noDesktopFile(appID: appID))) }
        starter.open(entry, Self.opening(nil, nil, activationToken), completion: completion)
    }

    func open(
        _ link: NotificationLink, activationToken: String?, completion: @escaping (Result<Void, AppOpenError>) -> Void
    ) {
        linkOpener.open(link.text, activationToken: activationToken, completion: completion)
    }

    /// Starts the app's program with a button that the user chose.
    func execute(
        _ appID: AppID, _ notification: String, _ action: ChosenAction,
        _ completion: @escaping (Result<Void, AppOpenError>) -> Void
    ) {
        guard let entry = starter.find(appID) else { return completion(.failure(.noDesktopFile(appID: appID))) }
        guard notification.utf8.count <= AppLauncher.notificationByteCountMax else {
            return completion(.failure(.failed("the notification has \(notification.utf8.count) bytes")))
        }
        starter.execute(entry, Self.opening(notification, action, nil), completion: completion)
    }

    private static func opening(
        _ notification: String?, _ action: ChosenAction?, _ token: String?
    ) -> AppStarter.Opening {
        var opening = AppStarter.Opening()
        opening.action = notification.map { (actionName, $0) }
        opening.variables = [
            "POSTHORN_NOTIFICATION": notification, "POSTHORN_ACTION": action?.id, "POSTHORN_TEXT": action?.text,
        ]
        opening.activationToken = token
        return opening
    }
}
