// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import PushCore
internal import TestSupport
internal import Testing

/// Checks the files of `debian/` against the lists that they repeat; `make packages` tests the packages.
struct PackagingTests {
    private static let control = readText("\(RepositoryPaths.root)/debian/control")

    @Test func `the packages have the version of the programs`() {
        let changelog = readText("\(RepositoryPaths.root)/debian/changelog")
        #expect(changelog.hasPrefix("posthorn (\(ProductVersion.text)) "))
    }

    @Test func `the packages need the library versions that the setup needs`() throws {
        let setup = readText("\(RepositoryPaths.root)/scripts/setup.sh")
        for (variable, packages) in [
            ("nghttp2_version_min", ["libnghttp2-14", "libnghttp2-dev"]),
            ("openssl_version_min", ["libssl3", "libssl-dev"]),
        ] {
            let line = try #require(setup.split(separator: "\n").first { $0.hasPrefix("\(variable)=") })
            let version = line.dropFirst(variable.count + 1)
            for package in packages { #expect(Self.control.contains("\n \(package) (>= \(version)),\n"), "\(package)") }
        }
    }

    @Test func `the packages can be built with the packages of the setup`() {
        // Debian's build-essential contains these.
        let toolchain: Set<Substring> = ["binutils", "libc6-dev", "libstdc++-12-dev"]
        let packages = readText("\(RepositoryPaths.root)/scripts/packages-build.txt").split(separator: "\n")
            .filter { !$0.hasPrefix("#") }.compactMap { $0.split(separator: " ").first }
        #expect(packages.count > 10)
        let missing = packages.filter { name in
            !toolchain.contains(name) && !Self.control.contains("\n \(name),\n")
                && !Self.control.contains("\n \(name) (")
        }
        #expect(missing == [])
    }

    @Test func `the documents of the package link to files of the package`() async throws {
        let target = try TemporaryDirectory()
        let root = RepositoryPaths.root
        try await RunningProcess.run(
            RepositoryPaths.python, ["\(root)/scripts/site.py", "--package", target.path(of: "doc")]
        ).succeeded()
        // debian/posthorn-doc.examples installs these two directories.
        try FileManager.default.copyItem(atPath: "\(root)/examples", toPath: target.path(of: "doc/examples"))
        try FileManager.default.copyItem(
            atPath: "\(root)/deploy/container", toPath: target.path(of: "doc/examples/container"))
        let pages = try FileManager.default.subpathsOfDirectory(atPath: target.path(of: "doc"))
            .filter { $0.hasSuffix(".md") }
        #expect(pages.count > 80)
        let dead = pages.flatMap { page in
            let path = target.path(of: "doc/\(page)")
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            return MarkdownDocument(readText(path)).links.map { String($0.prefix { $0 != "#" }) }
                .filter { !$0.isEmpty && !$0.contains(":") }
                .filter { !FileManager.default.fileExists(atPath: "\(folder)/\($0)") }
                .map { "\(page): \($0)" }
        }
        #expect(dead == [])
    }

    @Test func `each installed file belongs to one package`() async throws {
        let target = try TemporaryDirectory()
        try await RunningProcess.run(
            try RepositoryPaths.tool("make"),
            [
                "-C", RepositoryPaths.root, "install", "DESTDIR=\(target.path)", "BUILD=\(RepositoryPaths.programs)",
                "PARTS=server device machine",
            ]
        ).succeeded()
        let files = try FileManager.default.subpathsOfDirectory(atPath: target.path).filter { path in
            var isFolder: ObjCBool = false
            return unsafe FileManager.default.fileExists(atPath: target.path(of: path), isDirectory: &isFolder)
                && !isFolder.boolValue
        }
        let lists = try FileManager.default.contentsOfDirectory(atPath: "\(RepositoryPaths.root)/debian")
            .filter { $0.hasSuffix(".install") }
        #expect(lists.count == 4)
        let patterns = lists.flatMap { list in
            readText("\(RepositoryPaths.root)/debian/\(list)").split(separator: "\n")
                .compactMap { $0.split(separator: " ").first }
        }
        let strays = files.filter { path in patterns.count { matches(path, $0) } != 1 }
        #expect(files.count > 40 && strays == [])
        #expect(patterns.filter { pattern in !files.contains { matches($0, pattern) } } == [])
    }

    /// Returns whether the pattern of a list is the path, one of its directories, or the path's beginning before `*`.
    private func matches(_ path: String, _ pattern: Substring) -> Bool {
        if pattern.hasSuffix("*") { return path.hasPrefix(pattern.dropLast()) }
        return path == pattern || path.hasPrefix("\(pattern)/")
    }
}
