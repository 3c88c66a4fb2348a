// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
package import PushPostgres

/// The place of a store: a PostgreSQL database, or the directory of a database of SQLite.
package enum StoreAddress: Sendable {
    case sqlite(directory: String)
    case postgres(PostgresAddress)

    private static let sqlitePrefix = "sqlite:"

    /// Parses the value of an option.
    ///
    /// - Parameters:
    ///   - text: `sqlite:DIRECTORY` or `postgresql://…`.
    ///   - option: The option, for error messages.
    /// - Throws: The problem with the address, without its password.
    init(_ text: String, option: String) throws(ConfigurationError) {
        guard text.hasPrefix(Self.sqlitePrefix) else {
            do throws(PostgresAddressError) { self = .postgres(try PostgresAddress(text)) } catch {
                throw ConfigurationError(
                    place: "--\(option)", problem: error.description,
                    remedy: "For SQLite, write sqlite: and the directory of the database.")
            }
            return
        }
        let directory = String(text.dropFirst(Self.sqlitePrefix.count))
        guard !directory.isEmpty else {
            throw ConfigurationError(
                place: "--\(option)", problem: "the directory is missing.",
                remedy: "Write sqlite: and the directory of the database, for example sqlite:/var/lib/posthorn.")
        }
        self = .sqlite(directory: directory)
    }

    /// Returns the source and the target of `--migrate`; nil without this option.
    ///
    /// - Parameter invocation: The command line.
    /// - Returns: The addresses; the source is nil without `--from`.
    /// - Throws: The option that is invalid.
    static func migration(
        _ invocation: Invocation
    ) throws(ConfigurationError) -> (source: StoreAddress?, target: StoreAddress)? {
        let from = invocation.value("from")
        guard let to = invocation.value("migrate") else {
            guard from == nil else {
                throw ConfigurationError(
                    place: "--from", problem: "requires --migrate.", remedy: "Add --migrate and the target.")
            }
            return nil
        }
        let target = try StoreAddress(to, option: "migrate")
        var source: StoreAddress?
        if let from { source = try StoreAddress(from, option: "from") }
        switch (source, target) {
        case (.postgres, .sqlite), (.sqlite, .postgres), (nil, .postgres): return (source, target)
        case (nil, .sqlite):
            throw ConfigurationError(
                place: "--migrate", problem: "the store to copy is not known.",
                remedy: "Specify the address of PostgreSQL with --from.")
        case (.sqlite, .sqlite), (.postgres, .postgres):
            throw ConfigurationError(
                place: "--migrate", problem: "source and target have the same kind.",
                remedy: "To copy within SQLite, restore a backup; for PostgreSQL, use its own tools.")
        }
    }
}
