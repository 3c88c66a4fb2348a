// SPDX-License-Identifier: Apache-2.0

internal import CNghttp2

/// The version of nghttp2 that is loaded at run time.
package enum NGHTTP2Version {
    /// The version that `nghttp2_version` returns, such as `1.52.0`.
    package static var text: String {
        guard let version = unsafe nghttp2_version(0) else { return "unknown" }
        return unsafe String(cString: version.pointee.version_str)
    }
}
