// SPDX-License-Identifier: Apache-2.0

package import Testing

extension Tag {
    /// Marks tests that take more than a second.
    @Tag package static var slow: Self
}
