// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import Glibc

/// A file descriptor received over the bus, such as one of logind's locks; closed with this object.
package final class BusDescriptor {
    private let rawValue: Int32

    /// Duplicates a descriptor, which sd-bus closes with its message.
    fileprivate init(copying descriptor: Int32) throws(BusError) {
        rawValue = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        try BusError.check(rawValue < 0 ? -errno : 0, "keep a descriptor")
    }

    deinit { _ = close(rawValue) }
}

extension BusConnection {
    /// Calls a method that returns only a file descriptor, without blocking.
    ///
    /// This function is separate from `send`, because values can be copied and compared, but a descriptor has one
    /// owner.
    ///
    /// - Parameters:
    ///   - destination: The bus name of the service.
    ///   - path: The path of the object.
    ///   - interface: The interface of the method.
    ///   - member: The name of the method.
    ///   - arguments: The arguments of the method.
    ///   - completion: Called as with `send`.
    package func sendForDescriptor(
        _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue],
        completion: @escaping (Result<BusDescriptor, BusError>) -> Void
    ) {
        send(destination, path, interface, member, arguments, timeout: .seconds(25)) { message in
            completion(Self.descriptor(in: message))
        } onFailure: {
            completion(.failure($0))
        }
    }

    private static func descriptor(in reply: borrowing BusMessage) -> Result<BusDescriptor, BusError> {
        if let error = reply.error { return .failure(error) }
        do {
            var descriptor: Int32 = -1
            let type = CChar(UInt8(ascii: "h"))
            try BusError.check(unsafe sd_bus_message_read_basic(reply.handle, type, &descriptor), "read a descriptor")
            return .success(try BusDescriptor(copying: descriptor))
        } catch {
            return .failure(error)
        }
    }
}
