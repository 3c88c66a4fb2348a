// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// The settings of all Swift targets; docs/explanation/architecture.md gives the reasons.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

func module(_ name: String, uses dependencies: [String] = []) -> Target {
    .target(name: name, dependencies: dependencies.map { .byName(name: $0) }, swiftSettings: settings)
}

func program(_ name: String, uses dependencies: [String]) -> Target {
    .executableTarget(name: name, dependencies: dependencies.map { .byName(name: $0) }, swiftSettings: settings)
}

func tests(of name: String, uses dependencies: [String] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: ([name, "TestSupport"] + dependencies).map { .byName(name: $0) },
        swiftSettings: settings)
}

let systemModules: [Target] = [
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl"),
    .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2"),
    .systemLibrary(name: "CWslay"),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3"),
    .systemLibrary(name: "CPQ", pkgConfig: "libpq"),
    .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd"),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl"),
    .systemLibrary(name: "CINIH", pkgConfig: "inih"),
    .systemLibrary(name: "CCanberra", pkgConfig: "libcanberra"),
    .systemLibrary(name: "CPulse", pkgConfig: "libpulse"),
    .systemLibrary(name: "CSndfile", pkgConfig: "sndfile"),
    .systemLibrary(name: "CAdwaita", pkgConfig: "libadwaita-1"),
    .target(name: "CPushShims"),
]

let modules: [Target] = [
    module("PushCore"),
    module("PushAPI", uses: ["PushCore"]),
    module("PayloadLint", uses: ["PushCore"]),
    module("CommandLineKit", uses: ["PushCore"]),
    module("PushNet", uses: ["CLinux", "CPushShims"]),
    module("PushTLS", uses: ["COpenSSL", "CPushShims"]),
    module("PushHTTP", uses: ["CNghttp2", "PushNet"]),
    module("PushWebSocket", uses: ["CWslay", "PushNet"]),
    module("PushSQL"),
    module("PushSQLite", uses: ["CSQLite", "CPushShims", "PushSQL"]),
    module("PushPostgres", uses: ["CPQ", "PushNet", "PushSQL"]),
    module("PushCurl", uses: ["CCurl", "PushTLS"]),
    module("PushDBus", uses: ["CSystemd"]),
    module("PushSound", uses: ["CCanberra", "CPulse", "CSndfile", "CPushShims"]),
    module("PushINI", uses: ["CINIH"]),
    module("AgentBus", uses: ["PushCore", "PushDBus"]),
    module(
        "PushStore",
        uses: ["PushAPI", "PushCore", "PushNet", "PushPostgres", "PushSQL", "PushSQLite", "PushTLS"]),
    module(
        "PushCluster",
        uses: [
            "PushAPI", "PushCore", "PushNet", "PushPostgres", "PushSQL", "PushStore", "PushTLS", "PushWebSocket",
        ]),
    module("PushServing", uses: ["PushCore", "PushNet", "PushTLS", "PushHTTP", "PushStore"]),
    module(
        "PushServer",
        uses: [
            "CommandLineKit", "PayloadLint", "PushAPI", "PushCluster", "PushCore", "PushCurl", "PushNet", "PushTLS",
            "PushHTTP", "PushWebSocket", "PushINI", "PushPostgres", "PushStore", "PushServing",
        ]),
    module("LinuxDesktop", uses: ["PushCore", "PushNet", "PushDBus"]),
    module("AgentStore", uses: ["PayloadLint", "PushAPI", "PushCore", "PushNet", "PushSQL", "PushSQLite"]),
    module(
        "DeviceAgent",
        uses: [
            "AgentBus", "AgentStore", "CommandLineKit", "LinuxDesktop", "PayloadLint", "PushAPI", "PushCore", "PushNet",
            "PushTLS", "PushCurl", "PushWebSocket", "PushSQL", "PushSQLite", "PushDBus", "PushSound", "PushINI",
        ]),
    module("PanelToolkit", uses: ["CAdwaita", "PushCore"]),
    module(
        "AgentPanel",
        uses: ["AgentBus", "CommandLineKit", "PanelToolkit", "PushAPI", "PushCore", "PushDBus", "PushNet"]),
    module(
        "PosthornCLI",
        uses: [
            "AgentBus", "CommandLineKit", "PayloadLint", "PushAPI", "PushCore", "PushNet", "PushTLS", "PushCurl",
            "PushDBus",
        ]),
]

let programs: [Target] = [
    program("posthornd", uses: ["PushDBus", "PushNet", "PushServer"]),
    program("posthorn-agent", uses: ["PushCore", "PushNet", "DeviceAgent"]),
    program("posthorn-panel", uses: ["PushNet", "AgentPanel"]),
    program("posthorn", uses: ["PushNet", "PosthornCLI"]),
]

let testTargets: [Target] = [
    .target(name: "TestSupport", dependencies: [], path: "Tests/TestSupport", swiftSettings: settings),
    .target(
        name: "LoopTestSupport", dependencies: ["PushNet", "TestSupport"], path: "Tests/LoopTestSupport",
        swiftSettings: settings),
    tests(of: "PushCore", uses: ["PushAPI"]),
    tests(of: "PushAPI", uses: ["PushCore"]),
    tests(of: "PayloadLint", uses: ["PushCore"]),
    tests(of: "CommandLineKit", uses: ["PushCore"]),
    tests(of: "PushNet", uses: ["LoopTestSupport"]),
    tests(of: "PushTLS"),
    tests(of: "PushHTTP", uses: ["PushTLS", "PushNet"]),
    tests(of: "PushWebSocket", uses: ["PushNet"]),
    tests(of: "PushSQLite", uses: ["PushSQL"]),
    tests(of: "PushPostgres", uses: ["LoopTestSupport", "PushNet", "PushSQL"]),
    tests(of: "PushCurl", uses: ["PushNet"]),
    tests(of: "PushDBus"),
    tests(of: "AgentBus", uses: ["PushCore", "PushDBus"]),
    tests(of: "PushSound"),
    tests(of: "PushINI"),
    tests(
        of: "PushStore",
        uses: ["PushAPI", "PushCluster", "PushCore", "PushNet", "PushPostgres", "PushSQL", "PushSQLite"]),
    tests(
        of: "PushCluster",
        uses: [
            "LoopTestSupport", "PushAPI", "PushCore", "PushNet", "PushPostgres", "PushStore", "PushTLS",
            "PushWebSocket",
        ]),
    tests(of: "PushServing", uses: ["PushCore", "PushNet"]),
    tests(
        of: "PushServer",
        uses: [
            "CommandLineKit", "LoopTestSupport", "PayloadLint", "PushAPI", "PushCluster", "PushCore", "PushHTTP",
            "PushNet", "PushServing", "PushStore", "PushTLS", "PushWebSocket",
        ]),
    tests(of: "LinuxDesktop", uses: ["LoopTestSupport", "PushCore", "PushDBus", "PushNet"]),
    tests(of: "AgentStore", uses: ["PushAPI", "PushCore", "PushSQL", "PushSQLite"]),
    tests(
        of: "DeviceAgent",
        uses: [
            "AgentBus", "AgentStore", "CommandLineKit", "LinuxDesktop", "LoopTestSupport", "PayloadLint", "PushAPI",
            "PushCore", "PushDBus", "PushNet", "PushSQL", "PushSQLite", "PushTLS", "PushWebSocket",
        ]),
    tests(of: "PanelToolkit"),
    tests(of: "AgentPanel", uses: ["AgentBus", "PanelToolkit", "PushAPI", "PushCore", "PushDBus", "PushNet"]),
    tests(
        of: "PosthornCLI",
        uses: ["AgentBus", "CommandLineKit", "PayloadLint", "PushAPI", "PushCore", "PushTLS", "PushCurl", "PushDBus"]),
    .testTarget(
        name: "EndToEndTests",
        dependencies: ["TestSupport", "posthornd", "posthorn-agent", "posthorn-panel", "posthorn"],
        exclude: ["Providers", "Panel/atspi.py", "Panel/session_manager.py"],
        swiftSettings: settings),
    .testTarget(
        name: "FaultTests", dependencies: ["TestSupport", "posthornd", "posthorn"], exclude: ["python"],
        swiftSettings: settings),
    .testTarget(
        name: "ConformanceTests", dependencies: ["TestSupport", "PushCore", "posthornd"], exclude: ["python"],
        swiftSettings: settings),
    .testTarget(
        name: "AttackTests", dependencies: ["TestSupport", "posthornd"], exclude: ["python"], swiftSettings: settings),
    .testTarget(
        name: "RepositoryTests",
        dependencies: [
            "CommandLineKit", "PayloadLint", "PosthornCLI", "PushAPI", "PushCore", "PushHTTP", "PushServer",
            "TestSupport",
        ], swiftSettings: settings),
]

let package = Package(
    name: "posthorn",
    products: [
        .executable(name: "posthornd", targets: ["posthornd"]),
        .executable(name: "posthorn-agent", targets: ["posthorn-agent"]),
        .executable(name: "posthorn-panel", targets: ["posthorn-panel"]),
        .executable(name: "posthorn", targets: ["posthorn"]),
        .library(name: "PushCore", targets: ["PushCore"]),
        .library(name: "PushAPI", targets: ["PushAPI"]),
        .library(name: "PushServer", targets: ["PushServer"]),
        .library(name: "DeviceAgent", targets: ["DeviceAgent"]),
    ],
    targets: systemModules + modules + programs + testTargets
)
