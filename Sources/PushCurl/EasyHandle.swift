// SPDX-License-Identifier: Apache-2.0

internal import CCurl

/// Receives the data that libcurl reads from the server.
protocol AnswerSink: AnyObject {
    /// Receives a line of the head; returns false to end the transfer.
    func receive(headLine: Span<UInt8>) -> Bool
    /// Receives a piece of the body; returns false to end the transfer.
    func receive(bodyPiece: Span<UInt8>) -> Bool
}

/// A request and its response; owns one `CURL *` and the memory that it refers to.
@safe final class EasyHandle {
    /// The pointer for `curl_multi_add_handle`, which also identifies the transfer in callbacks.
    let pointer: UnsafeMutableRawPointer
    /// The reason why the request cannot be sent; the transfer then fails immediately with CURLE_URL_MALFORMAT.
    private(set) var refusal: CurlError?
    private let errorText: UnsafeMutablePointer<CChar>
    private var lists: [UnsafeMutablePointer<curl_slist>]
    private weak var sink: (any AnswerSink)?

    init() {
        precondition(CurlLibrary.isReady, "curl_global_init failed: out of memory, or no TLS library")
        guard let pointer = unsafe curl_easy_init() else { preconditionFailure("curl_easy_init: out of memory") }
        unsafe self.pointer = pointer
        unsafe lists = []
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        unsafe curl_easy_cleanup(pointer)
        freeLists()
        unsafe errorText.deallocate()
    }

    /// Sets up the next request; discards the previous one but keeps its connection.
    func configure(_ request: HTTPRequest, sink: any AnswerSink) {
        unsafe curl_easy_reset(pointer)
        freeLists()
        unsafe errorText.update(repeating: 0, count: Int(CURL_ERROR_SIZE))
        self.sink = sink
        refusal = nil
        setTransport(request)
        setTrust(request)
        setMethod(request)
        setFields(request)
        set(CURLOPT_URL, text: refusal == nil ? request.url : "")
    }

    /// Returns the error of a transfer that ended with this code; nil if it succeeded.
    func error(for code: CURLcode) -> CurlError? {
        if let refusal { return refusal }
        guard code != CURLE_OK else { return nil }
        return CurlError(
            code, detail: unsafe String(cString: errorText), connectStatus: number(CURLINFO_HTTP_CONNECTCODE),
            verification: number(CURLINFO_SSL_VERIFYRESULT))
    }

    /// The number of connections that were opened for this transfer (CURLINFO_NUM_CONNECTS).
    var newConnectionCount: Int { number(CURLINFO_NUM_CONNECTS) }

    private func number(_ information: CURLINFO) -> Int {
        var number = 0
        _ = unsafe push_curl_easy_get_long(pointer, information, &number)
        return number
    }

    /// The server's certificates as PEM, if they were requested (CURLINFO_CERTINFO).
    var certificates: [[UInt8]] {
        var information: UnsafeMutablePointer<curl_certinfo>?
        guard unsafe push_curl_easy_get_certificates(pointer, &information) == CURLE_OK,
            let chain = unsafe information?.pointee
        else { return [] }
        let prefix = Array("Cert:".utf8)
        var certificates: [[UInt8]] = []
        for index in 0..<Int(unsafe chain.num_of_certs) {
            var item = unsafe chain.certinfo[index]
            while let current = unsafe item {
                let line = unsafe Array(String(cString: current.pointee.data).utf8)
                if line.starts(with: prefix) { certificates.append(Array(line.dropFirst(prefix.count))) }
                unsafe item = current.pointee.next
            }
        }
        return certificates
    }

    /// Runs the transfer to its end: curl_easy_perform(3).
    func perform() -> CURLcode { unsafe curl_easy_perform(pointer) }

    /// Sets the function that opens the sockets (CURLOPT_OPENSOCKETFUNCTION).
    func setOpenFunction(_ function: @escaping curl_opensocket_callback, _ userData: UnsafeMutableRawPointer) {
        unsafe check(push_curl_easy_set_open_function(pointer, function))
        unsafe set(CURLOPT_OPENSOCKETDATA, userData)
    }

    private func freeLists() {
        while let list = unsafe lists.popLast() { unsafe curl_slist_free_all(list) }
    }
}

// MARK: Setup

extension EasyHandle {
    private func setTransport(_ request: HTTPRequest) {
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_PIPEWAIT, 1)
        // The user of a bare connection sends its own pings, and knows better how often.
        set(CURLOPT_TCP_KEEPALIVE, request.connectsOnly ? 0 : 1)
        set(CURLOPT_TCP_KEEPIDLE, 60)
        set(CURLOPT_TCP_KEEPINTVL, 20)
        set(CURLOPT_CONNECTTIMEOUT_MS, 15_000)
        // Each connection tries the addresses of a name in a new random order, because a node may take no devices.
        set(CURLOPT_DNS_SHUFFLE_ADDRESSES, 1)
        set(CURLOPT_DNS_CACHE_TIMEOUT, 0)
        set(CURLOPT_FRESH_CONNECT, request.needsFreshConnection ? 1 : 0)
        set(CURLOPT_PROTOCOLS_STR, text: "http,https")
        set(CURLOPT_HTTP_VERSION, Self.version(for: request))
        if request.connectsOnly {
            set(CURLOPT_CONNECT_ONLY, 1)
            // A proxy that parses requests would not understand the protocol that follows.
            set(CURLOPT_HTTPPROXYTUNNEL, 1)
        }
        if let timeout = request.timeout { set(CURLOPT_TIMEOUT_MS, timeout.wholeMilliseconds) }
        // Otherwise the proxy's response to CONNECT would count as the server's.
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        if let proxy = request.proxy {
            set(CURLOPT_PROXY, text: proxy)
            set(CURLOPT_NOPROXY, text: "")
        }
        if let path = request.unixSocket {
            set(CURLOPT_UNIX_SOCKET_PATH, text: path)
            set(CURLOPT_PROXY, text: "")
        }
        if let peer = request.connectTo { set(CURLOPT_CONNECT_TO, list: ["::\(peer)"]) }
        unsafe set(CURLOPT_ERRORBUFFER, errorText)
        unsafe set(CURLOPT_WRITEDATA, Unmanaged.passUnretained(self).toOpaque())
        unsafe set(CURLOPT_HEADERDATA, Unmanaged.passUnretained(self).toOpaque())
        unsafe check(push_curl_easy_set_sink(pointer, CURLOPT_WRITEFUNCTION, receiveBodyPiece))
        unsafe check(push_curl_easy_set_sink(pointer, CURLOPT_HEADERFUNCTION, receiveHeadLine))
    }

    /// Sets the verification explicitly, so that no other setting can disable libcurl's default.
    private func setTrust(_ request: HTTPRequest) {
        set(CURLOPT_SSL_VERIFYPEER, request.looksAtCertificates ? 0 : 1)
        set(CURLOPT_SSL_VERIFYHOST, request.looksAtCertificates ? 0 : 2)
        set(CURLOPT_CERTINFO, request.looksAtCertificates ? 1 : 0)
        set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        // libcurl would keep the authorities of a file for a day, but a file may be replaced when an authority changes.
        set(CURLOPT_CA_CACHE_TIMEOUT, 0)
        if let text = request.caText {
            setAuthorities(text)
        } else if let file = request.caFile {
            set(CURLOPT_CAINFO, text: file)
        }
        // Debian's libcurl would also trust each authority of its directory.
        if request.caText != nil || request.caFile != nil, !request.alsoTrustsSystem {
            unsafe check(push_curl_easy_set_text(pointer, CURLOPT_CAPATH, nil))
        }
        if let file = request.clientCertificateFile { set(CURLOPT_SSLCERT, text: file) }
        if let file = request.clientKeyFile { set(CURLOPT_SSLKEY, text: file) }
    }

    private func setAuthorities(_ text: [UInt8]) {
        var text = text
        unsafe text.withUnsafeMutableBytes { bytes in
            // libcurl copies the blob and its bytes.
            var blob = unsafe curl_blob(data: bytes.baseAddress, len: bytes.count, flags: UInt32(CURL_BLOB_COPY))
            unsafe check(push_curl_easy_set_pointer(pointer, CURLOPT_CAINFO_BLOB, &blob))
        }
    }

    private func setMethod(_ request: HTTPRequest) {
        switch request.method {
        case "GET": set(CURLOPT_HTTPGET, 1)
        case "HEAD": set(CURLOPT_NOBODY, 1)
        case "POST", "PUT", "PATCH":
            set(CURLOPT_POST, 1)
            setBody(request.body)
        default:
            if !request.body.isEmpty { setBody(request.body) }
        }
        guard !request.method.isEmpty, request.method.utf8.allSatisfy({ (65...90).contains($0) }) else {
            return refuse("the method must be capital letters")
        }
        if request.method != "HEAD" { set(CURLOPT_CUSTOMREQUEST, text: request.method) }
    }

    private func setBody(_ body: [UInt8]) {
        // The size must be set first, because CURLOPT_COPYPOSTFIELDS copies that many bytes.
        unsafe check(push_curl_easy_set_offset(pointer, CURLOPT_POSTFIELDSIZE_LARGE, Int64(body.count)))
        unsafe body.withUnsafeBytes { bytes in
            // A null pointer would mean "use the read callback", so an empty body needs some other address.
            let address =
                unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress) ?? UnsafeMutableRawPointer(errorText)
            unsafe set(CURLOPT_COPYPOSTFIELDS, address)
        }
    }

    private func setFields(_ request: HTTPRequest) {
        // By default, libcurl sends Expect and waits a second, and declares every body a form.
        var lines = ["Expect:"]
        if !request.fields.contains(where: { $0.0.lowercased() == "content-type" }) { lines.append("Content-Type:") }
        for (name, value) in request.fields {
            guard Self.isName(name), Self.isSafe(value) else {
                return refuse("a field name is malformed, or a value holds a control character")
            }
            lines.append(value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        set(CURLOPT_HTTPHEADER, list: lines)
    }

    private static func version(for request: HTTPRequest) -> Int {
        if request.connectsOnly { return CURL_HTTP_VERSION_1_1 }
        guard request.requiresHTTP2, request.url.utf8.starts(with: "http:".utf8) else { return CURL_HTTP_VERSION_2TLS }
        return CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45
            }
    }

    private static func isSafe(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 32 && $0 != 127 || $0 == 9 }
    }

    private func refuse(_ message: String) {
        if refusal == nil { refusal = .unusable(message) }
    }

    private func check(_ code: CURLcode) {
        guard code != CURLE_OK else { return }
        if refusal == nil { refusal = CurlError(code, detail: "", connectStatus: 0, verification: 0) }
    }

    private func set(_ option: CURLoption, _ value: Int) {
        unsafe check(push_curl_easy_set_long(pointer, option, value))
    }

    private func set(_ option: CURLoption, text: String) {
        // A NUL would cut the text, so that another host or file would be used than the caller checked.
        guard Self.isSafe(text) else { return refuse("a URL, path or host holds a control character") }
        unsafe check(push_curl_easy_set_text(pointer, option, text))
    }

    private func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer) {
        unsafe check(push_curl_easy_set_pointer(pointer, option, value))
    }

    private func set(_ option: CURLoption, list texts: [String]) {
        var list: UnsafeMutablePointer<curl_slist>?
        for text in texts {
            guard Self.isSafe(text), let longer = unsafe curl_slist_append(list, text) else {
                unsafe curl_slist_free_all(list)
                return refuse("a list holds a control character")
            }
            unsafe list = longer
        }
        guard let list = unsafe list else { return }
        unsafe lists.append(list)
        unsafe check(push_curl_easy_set_list(pointer, option, list))
    }

    fileprivate func deliver(headLine: Span<UInt8>) -> Bool { sink?.receive(headLine: headLine) ?? false }
    fileprivate func deliver(bodyPiece: Span<UInt8>) -> Bool { sink?.receive(bodyPiece: bodyPiece) ?? false }
}

extension Duration {
    /// The duration in milliseconds: at least 1, and within libcurl's range.
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds < 1_000_000 else { return 1_000_000_000 }
        return max(1, Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
    }
}

// MARK: Callbacks

private func receiveHeadLine(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ userData: UnsafeMutableRawPointer?
) -> Int {
    unsafe forward(bytes, count, userData) { $0.deliver(headLine: $1) }
}

private func receiveBodyPiece(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ userData: UnsafeMutableRawPointer?
) -> Int {
    unsafe forward(bytes, count, userData) { $0.deliver(bodyPiece: $1) }
}

/// Passes data to a transfer's sink; `size` is always 1, and any result other than `count` makes libcurl end the
/// transfer.
private func forward(
    _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ userData: UnsafeMutableRawPointer?,
    _ body: (EasyHandle, Span<UInt8>) -> Bool
) -> Int {
    guard let userData = unsafe userData else { return 0 }
    let handle = unsafe Unmanaged<EasyHandle>.fromOpaque(userData).takeUnretainedValue()
    let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
    let wasTaken = unsafe buffer.withMemoryRebound(to: UInt8.self) { body(handle, unsafe $0.span) }
    // CURL_WRITEFUNC_ERROR does not exist in every version. For a piece that is not empty, a wrong count means the
    // same.
    return wasTaken ? count : Int(CURL_MAX_WRITE_SIZE) + 1 + count
}
