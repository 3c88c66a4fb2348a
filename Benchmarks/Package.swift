// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A package of its own, so that no build of the product waits for it.
// Not strictMemorySafety: the generator's work is C buffers from end to end, and it never meets a stranger.
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
