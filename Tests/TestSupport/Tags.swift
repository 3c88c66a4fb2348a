// SPDX-License-Identifier: Apache-2.0

package import Testing

extension Tag {
    /// Takes more than a second.
    @Tag package static var slow: Self
}
