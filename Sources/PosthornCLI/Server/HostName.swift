// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushNet

/// Host names, and the addresses to which this machine resolves them.
enum HostName {
    /// Returns whether a host is this machine's own name and has no address, because no file and no DNS server has one.
    ///
    /// Clients on this machine then use `localhost`, which the server's own certificate contains too.
    static func isUnknownHere(_ host: String) -> Bool { host == ProcessFacts.hostName && addresses(of: host).isEmpty }

    /// Returns a URL with `localhost` in place of its host.
    static func localURL(_ url: String) -> String { url.replacing("//\(host(of: url))", with: "//localhost") }

    /// Returns the host of a URL.
    static func host(of url: String) -> String {
        let rest = url.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first ?? ""
        if rest.hasPrefix("[") { return String(rest.dropFirst().prefix { $0 != "]" }) }
        return String(rest.prefix { $0 != ":" })
    }

    /// Returns the addresses of a host; empty if this machine cannot resolve it.
    static func addresses(of host: String) -> [String] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { unsafe freeaddrinfo(list) }
        var found: [String] = []
        var next = unsafe list
        while let entry = unsafe next {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            if unsafe getnameinfo(
                entry.pointee.ai_addr, entry.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
                == 0
            {
                let address = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                if !found.contains(address) { found.append(address) }
            }
            unsafe next = entry.pointee.ai_next
        }
        return found
    }
}
