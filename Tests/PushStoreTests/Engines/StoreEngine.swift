// SPDX-License-Identifier: Apache-2.0

@testable import PushStore
import TestSupport
import Testing

/// The engine on which the current test runs.
enum StoreEngine: CustomStringConvertible, Sendable {
    case sqlite
    case postgres(PostgresFixture)

    @TaskLocal static var current = StoreEngine.sqlite

    var description: String {
        switch self {
        case .sqlite: "SQLite"
        case .postgres: "PostgreSQL"
        }
    }

    /// Opens an empty store on the engine of the current test.
    static func open(_ adjust: (inout StoreConfiguration) -> Void = { _ in }) throws -> any RequestTarget {
        switch current {
        case .sqlite: try TestStore(adjust)
        case .postgres(let fixture): try PostgresTestStore(fixture, adjust)
        }
    }

    /// Opens an empty store with streams on the engine of the current test.
    static func openStreams(
        _ adjust: @escaping (inout StoreConfiguration) -> Void = { _ in }
    ) throws -> any StreamTarget {
        switch current {
        case .sqlite: try TestStore(adjust)
        case .postgres(let fixture): try NodeTestStore(fixture, adjust)
        }
    }
}

/// Runs each test of a suite with SQLite and then with PostgreSQL; without PostgreSQL, the test counts as skipped.
struct EnginesTrait: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await function()
        guard PostgresFixture.isInstalled else {
            try Test.cancel("it passed with SQLite; the package postgresql-15 is not installed")
        }
        let fixture = try await PostgresFixture()
        try await StoreEngine.$current.withValue(.postgres(fixture)) { try await function() }
    }
}

extension Trait where Self == EnginesTrait {
    /// Runs each test with both engines.
    static var bothEngines: Self { Self() }
}

extension Trait where Self == IssueHandlingTrait {
    /// Adds the engine to each failure.
    static var namesEngine: Self {
        .compactMapIssues { issue in
            // The trait of a suite and that of its test both handle the failure.
            let engine: Comment = "with \(StoreEngine.current)"
            guard !issue.comments.contains(engine) else { return issue }
            var issue = issue
            issue.comments.append(engine)
            return issue
        }
    }
}
