// SPDX-License-Identifier: Apache-2.0

package import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a test that preloads a library into a program: the runtime of a sanitizer must be the first library.
    package static var preloadsLibrary: Self {
        .disabled(if: Patience.isSanitized, "a sanitizer's runtime does not work behind a preloaded library")
    }

    /// Skips a test that limits memory: a sanitizer needs several times as much, and keeps freed memory.
    package static var limitsMemory: Self {
        .disabled(if: Patience.isSanitized, "a sanitizer needs more memory than the program")
    }

    /// Skips a test that waits a quarter of a minute or longer for real time, except in `make test-cluster`.
    package static var waitsLong: Self {
        .enabled(if: Patience.clusterSeconds != nil, "it waits for real time: make test-cluster runs it")
    }
}
