// SPDX-License-Identifier: Apache-2.0

internal import LinuxDesktop
internal import PushCore
internal import PushDBus

/// Calls of `org.posthorn.App1`, which deploy/dbus/org.posthorn.App1.xml describes.
extension AppLauncher {
    static let interface = "org.posthorn.App1"
    /// The time limit of `Act`; an app that takes longer counts as failed.
    static let actTimeout: Duration = .seconds(30)
    /// The time limit of `Wake`; an app that takes longer to fetch its data is no longer waited for.
    static let wakeTimeout: Duration = .seconds(30)

    /// Calls `Act`; an app that is not on the bus gets the button in the environment of its program.
    package func act(
        appID: AppID, notification: [UInt8], action: ChosenAction,
        completion: @escaping (Result<Void, AppOpenError>) -> Void
    ) {
        let text = String(decoding: notification, as: UTF8.self)
        guard AppStarter.isBusName(appID) else { return execute(appID, text, action, completion) }
        let arguments: [BusValue] = [.string(action.id), .string(action.text ?? ""), .string(text)]
        call(appID, "Act", arguments, timeout: AppLauncher.actTimeout) { [weak self] answer in
            switch answer {
            case .success: completion(.success(()))
            case .failure(let error) where AppStarter.provesNotReceived(error):
                self?.execute(appID, text, action, completion)
            case .failure(let error): completion(.failure(.failed("\(error.name): \(error.message)")))
            }
        }
    }

    /// Calls `Wake`; an app that is not on the bus is not woken, because its program would open a window.
    package func wake(
        appID: AppID, notification: [UInt8], completion: @escaping (Result<Void, AppOpenError>) -> Void
    ) {
        guard AppStarter.isBusName(appID) else {
            return completion(.failure(.failed("'\(appID)' cannot be a name on D-Bus")))
        }
        let text = String(decoding: notification, as: UTF8.self)
        call(appID, "Wake", [.string(text)], timeout: AppLauncher.wakeTimeout) { answer in
            completion(
                answer.map { _ in }.mapError { error in
                    .failed(
                        AppStarter.provesNotReceived(error)
                            ? "it does not serve \(AppLauncher.interface) on D-Bus" : "\(error.name): \(error.message)")
                })
        }
    }

    func call(
        _ appID: AppID, _ member: String, _ arguments: [BusValue], timeout: Duration,
        completion: @escaping (Result<[BusValue], BusError>) -> Void
    ) {
        connection.send(
            appID.text, AppStarter.objectPath(of: appID), AppLauncher.interface, member, arguments, timeout: timeout,
            completion: completion)
    }
}
