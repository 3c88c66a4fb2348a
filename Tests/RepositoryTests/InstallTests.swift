// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// Checks the result of `make install` with the programs that read it.
struct InstallTests {
    private let target: TemporaryDirectory

    init() throws { target = try TemporaryDirectory() }

    /// Runs `make install` or `make uninstall` with this build's programs.
    private func make(_ task: String, _ variables: String...) async throws {
        try await RunningProcess.run(
            try RepositoryPaths.tool("make"),
            ["-C", RepositoryPaths.root, task, "DESTDIR=\(target.path)", "BUILD=\(RepositoryPaths.programs)"]
                + variables
        ).succeeded()
    }

    private var files: [String] {
        let all = FileManager.default.enumerator(atPath: target.path)?.compactMap { $0 as? String } ?? []
        return all.filter { path in
            var isFolder: ObjCBool = false
            return unsafe FileManager.default.fileExists(atPath: target.path(of: path), isDirectory: &isFolder)
                && !isFolder.boolValue
        }
    }

    @Test func `make uninstall removes everything but the configuration`() async throws {
        let parts = "PARTS=server device machine"
        try await make("install", parts)
        #expect(files.count > 25)
        try await make("uninstall", "PARTS=device machine")
        #expect(files.contains("usr/bin/posthorn") && !files.contains("usr/bin/posthorn-agent"))
        try await make("uninstall", parts)
        #expect(files == ["etc/posthorn/posthornd.ini"])
        try target.write("[server]\n", to: "etc/posthorn/posthornd.ini")
        try await make("install", "PARTS=server")
        #expect(target.read("etc/posthorn/posthornd.ini") == "[server]\n")
        #expect(!files.contains { $0.hasSuffix("posthorn-panel") })
    }

    @Test func `the desktop's tools accept the panel's installed files`() async throws {
        try await make("install", "PARTS=device")
        let share = target.path(of: "usr/share")
        let autostart = "etc/xdg/autostart/org.posthorn.Agent.desktop"
        #expect(target.read(autostart).contains("\nExec=systemctl --user start posthorn-agent.service\n"))
        let desktop = try await RunningProcess.run(
            try RepositoryPaths.tool("desktop-file-validate"),
            ["\(share)/applications/org.posthorn.Panel.desktop", target.path(of: autostart)])
        #expect(desktop.exit == .code(0) && desktop.output.isEmpty, "\(desktop)")
        try await RunningProcess.run(
            try RepositoryPaths.tool("appstreamcli"), ["validate-tree", "--no-net", target.path(of: "usr")]
        ).succeeded()
        let icons = "usr/share/icons/hicolor"
        let symbolic = ["", "-tray", "-tray-unread"].map { "symbolic/apps/org.posthorn.Panel\($0)-symbolic.svg" }
        for icon in ["scalable/apps/org.posthorn.Panel.svg"] + symbolic {
            // GTK recognizes an SVG file by its first bytes.
            #expect(target.read("\(icons)/\(icon)").utf8.prefix(256).contains("<svg".utf8), "\(icon)")
        }
        let entry = target.read("usr/share/applications/org.posthorn.Panel.desktop")
        #expect(entry.contains("\nIcon=org.posthorn.Panel\n") && entry.contains("\nDBusActivatable=true\n"))
        #expect(try await isProgram("usr/bin/posthorn-panel"))
        let catalogues = try FileManager.default.contentsOfDirectory(atPath: "\(RepositoryPaths.root)/po")
        let languages = catalogues.filter { $0.hasSuffix(".po") }.map { $0.dropLast(3) }
        #expect(languages.contains("de") && languages.contains("zh_TW"))
        for language in languages {
            #expect(files.contains("usr/share/locale/\(language)/LC_MESSAGES/posthorn-panel.mo"))
        }
    }

    @Test func `each symbolic icon that the panel names is in the desktop's theme`() throws {
        let names = Set(
            RepositoryFiles.sources.flatMap { file in
                file.text.matches(of: /"([a-z-]+-symbolic)"/).map { String($0.1) }
            })
        #expect(names.count > 10)
        let theme = try #require(FileManager.default.enumerator(atPath: "/usr/share/icons/Adwaita"))
        let icons = Set(theme.compactMap { ($0 as? String)?.split(separator: "/").last.map(String.init) })
        #expect(names.filter { !icons.contains("\($0).svg") } == [])
    }

    @Test func `every XML file is well-formed`() async throws {
        try await make("install", "PARTS=device")
        let paths = files.filter { $0.hasSuffix(".xml") || $0.hasSuffix(".svg") }.map(target.path(of:))
        #expect(paths.count >= 5)
        let reader = "import sys, xml.dom.minidom\nfor path in sys.argv[1:]: xml.dom.minidom.parse(path)"
        try await RunningProcess.run(try RepositoryPaths.tool("python3"), ["-c", reader] + paths).succeeded()
    }

    @Test func `units and bus files name the programs below the prefix`() async throws {
        try await make("install", "PARTS=server device machine", "PREFIX=/opt/posthorn")
        let names = files.filter { $0.hasSuffix(".service") }
        #expect(names.count == 5)
        for name in names {
            let commands = target.read(name).split(separator: "\n").filter { $0.hasPrefix("Exec") }
            #expect(commands.contains { $0.contains("=/opt/posthorn/bin/posthorn") }, "\(name)")
            #expect(!target.read(name).contains("/usr/bin/posthorn"), "\(name)")
        }
        #expect(
            target.read("opt/posthorn/share/dbus-1/services/org.posthorn.Panel.service")
                .contains("Exec=/opt/posthorn/bin/posthorn-panel --service\n"))
    }

    @Test func `make install without built programs says to run make build`() async throws {
        let result = try await RunningProcess.run(
            try RepositoryPaths.tool("make"),
            ["-C", RepositoryPaths.root, "install", "DESTDIR=\(target.path)", "BUILD=\(target.path)"])
        #expect(result.exit != .code(0) && result.errorOutput.contains("make build"), "\(result)")
        #expect(files == [])
    }

    @Test(arguments: [nil, "exit 1"])
    func `make install without a working msgfmt changes nothing`(msgfmt: String?) async throws {
        let tools = try TemporaryDirectory()
        for name in [
            "basename", "cat", "chmod", "cp", "dirname", "find", "mkdir", "mktemp", "mv", "rm", "sed", "sh", "sort",
        ] {
            try FileManager.default.createSymbolicLink(
                atPath: tools.path(of: name), withDestinationPath: RepositoryPaths.tool(name))
        }
        if let msgfmt { try tools.write("#!/bin/sh\n\(msgfmt)\n", to: "msgfmt", permissions: 0o755) }
        let result = try await RunningProcess.run(
            try RepositoryPaths.tool("make"),
            ["-C", RepositoryPaths.root, "install", "DESTDIR=\(target.path)", "BUILD=\(RepositoryPaths.programs)"],
            environment: ["PATH": tools.path])
        let message = msgfmt == nil ? "install the package gettext" : "nothing was installed"
        #expect(result.exit != .code(0) && result.errorOutput.contains(message), "\(result)")
        #expect(files == [])
    }

    @Test func `each program has a page of the manual, which man formats without warnings`() async throws {
        try await make("install")
        let pages = files.filter { $0.hasPrefix("usr/share/man/") }
        let names = pages.compactMap { $0.split(separator: "/").last.map(String.init) }.sorted()
        #expect(
            names == [
                "posthorn-agent.1", "posthorn-agent.ini.5", "posthorn-panel.1", "posthorn.1", "posthornd.8",
                "posthornd.ini.5",
            ])
        for page in pages {
            let result = try await RunningProcess.run(
                try RepositoryPaths.tool("man"),
                ["--warnings", "--encoding=UTF-8", "--local-file", target.path(of: page)],
                environment: ["LC_ALL": "C.UTF-8", "MANWIDTH": "80", "MANPAGER": "cat", "HOME": target.path]
            ).succeeded()
            #expect(result.errorOutput == "", "\(page)")
            #expect(result.output.contains("SYNOPSIS"), "\(page)")
        }
        #expect(names.allSatisfy { name in pages.contains { $0.hasSuffix("man\(name.suffix(1))/\(name)") } })
    }

    @Test func `each program has completions for each shell`() async throws {
        try await make("install")
        for program in ["posthorn", "posthornd", "posthorn-agent", "posthorn-panel"] {
            for (shell, path) in [
                ("bash", "bash-completion/completions/\(program)"), ("zsh", "zsh/vendor-completions/_\(program)"),
                ("fish", "fish/vendor_completions.d/\(program).fish"),
            ] {
                let result = try await RunningProcess.run(
                    try RepositoryPaths.tool(shell), ["-n", target.path(of: "usr/share/\(path)")])
                #expect(result.exit == .code(0) && result.errorOutput == "", "\(path): \(result)")
            }
        }
    }

    private func isProgram(_ name: String) async throws -> Bool {
        try await RunningProcess.run(target.path(of: name), ["--version"]).exit == .code(0)
    }
}
