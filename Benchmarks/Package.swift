// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// This is a separate package, so that no build of the product waits for it.
// It does not use strictMemorySafety: the generator works on C buffers throughout, and never handles untrusted input.
let package = Package(
    name: "posthorn-bench",
    targets: [
        .systemLibrary(name: "CBenchmark", pkgConfig: "libnghttp2 openssl"),
        .executableTarget(
            name: "posthorn-bench", dependencies: ["CBenchmark"],
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .treatAllWarnings(as: .error),
            ]),
    ]
)
