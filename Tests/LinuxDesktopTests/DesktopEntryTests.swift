// SPDX-License-Identifier: Apache-2.0

import Glibc
@testable import LinuxDesktop
import PushCore
import TestSupport
import Testing

struct DesktopEntryTests {
    /// Writes one app's file and finds it.
    private func entry(
        _ lines: String, id: AppID = "org.posthorn.Test", environment: [String: String] = [:]
    ) throws -> (DesktopEntry?, TemporaryDirectory) {
        let home = try TemporaryDirectory()
        try home.makeDirectory("applications")
        try home.write("[Desktop Entry]\nType=Application\nName=App\n" + lines, to: "applications/\(id).desktop")
        let variables = environment.merging(["XDG_DATA_HOME": home.path, "XDG_DATA_DIRS": "/nonexistent"]) { $1 }
        return (DesktopEntries(environment: variables).find(id), home)
    }

    // MARK: IDs

    @Test(arguments: ["a", "0", "org.posthorn.App", "my-app_2.x", String(repeating: "a", count: 255)])
    func `an app ID is letters, digits, dots, dashes and underscores`(id: String) {
        #expect(DesktopEntry.isValidID(id))
    }

    @Test(arguments: [
        "", ".a", "-a", "_a", "a..b", "a/b", "../a", "a b", "a\0", "a\n", "ä", "a\u{301}", "\u{212A}",
        String(repeating: "a", count: 256),
    ])
    func `any other text is an invalid app ID, and finds nothing`(id: String) throws {
        #expect(!DesktopEntry.isValidID(id))
        #expect(DesktopEntries(environment: ["XDG_DATA_HOME": "/usr/share"]).find(AppID(id)) == nil)
    }

    // MARK: Keys

    @Test func `a file's keys become an entry`() throws {
        let (entry, home) = try entry(
            """
            # a comment
            Icon = mail-unread
            Exec=/usr/bin/app --view
            DBusActivatable=true
            Path=/srv
            [Desktop Action new]
            Exec=/usr/bin/other
            Icon=other
            """)
        let found = try #require(entry)
        #expect(found.id == "org.posthorn.Test")
        #expect(found.path == "\(home.path)/applications/org.posthorn.Test.desktop")
        #expect(found.name == "App")
        #expect(found.icon == "mail-unread")
        #expect(found.exec == ["/usr/bin/app", "--view"])
        #expect(found.isDBusActivatable)
        #expect(found.workingDirectory == "/srv")
    }

    @Test(arguments: [
        ("", "App"), ("de_CH.UTF-8@latin", "Swiss Latin"), ("de_CH.UTF-8", "Swiss"), ("de_AT", "German"),
        ("de_AT@latin", "German Latin"), ("de", "German"), ("C", "App"), ("C.UTF-8", "App"), ("POSIX", "App"),
        ("fr_FR", "App"), ("@latin", "App"), ("_CH", "App"),
    ])
    func `the name is in the user's language`(locale: String, name: String) throws {
        let names =
            "Name[de]=German\nName[de_CH]=Swiss\nName[de_CH@latin]=Swiss Latin\nName[de@latin]=German Latin\nName[]=None\n"
        #expect(try entry(names, environment: ["LANG": locale]).0?.name == name)
        #expect(
            try entry(names, environment: ["LANG": "de", "LC_MESSAGES": locale, "LC_ALL": ""]).0?.name
                == (locale.isEmpty ? "German" : name))
        #expect(try entry(names, environment: ["LANG": "de", "LC_ALL": "fr"]).0?.name == "App")
    }

    @Test(arguments: [
        ("Icon=a\\sb\\tc\\nd\\re\\\\f\\xg\\", "a b\tc\nd\re\\f\\xg\\"), ("Icon=  padded \t", "padded"),
        ("Icon=a\r", "a"), ("Icon=first\nIcon=second", "first"), ("Icon=a=b", "a=b"),
    ])
    func `values are unescaped`(line: String, icon: String) throws {
        #expect(try entry(line).0?.icon == icon)
    }

    @Test(arguments: ["Hidden=true", "TryExec=/nonexistent/program", "TryExec=posthorn-nonexistent", "Name=\n"])
    func `a hidden or uninstalled app is not found`(line: String) throws {
        let home = try TemporaryDirectory()
        try home.makeDirectory("applications")
        try home.write("[Desktop Entry]\n\(line)\nType=Application\nName=App\n", to: "applications/a.desktop")
        #expect(DesktopEntries(environment: ["XDG_DATA_HOME": home.path]).find("a") == nil)
    }

    @Test(arguments: [
        "", "[Desktop Entry]", "Type=Application\nName=A", "[Desktop Entry]\nType=Link\nName=A",
        "[Desktop Entry]\nName=A", "[Other]\nType=Application\nName=A\n[Desktop Entry]\n", "\u{0}\u{1}=[]=",
        "[Desktop Entry]\nType=Application\n[Desktop Entry]\nName=A",
    ])
    func `a file that describes no app is not an entry`(text: String) throws {
        let home = try TemporaryDirectory()
        try home.makeDirectory("applications")
        try home.write(text, to: "applications/a.desktop")
        #expect(DesktopEntries(environment: ["XDG_DATA_HOME": home.path]).find("a") == nil)
    }

    @Test func `a file over the size limit is not read`() throws {
        let text = String(repeating: "#", count: 256 * 1024)
        #expect(try entry("#\n").0 != nil)
        #expect(try entry(text).0 == nil)
    }

    @Test func `a folder, pipe or device does not block the search`() throws {
        let home = try TemporaryDirectory()
        try home.makeDirectory("applications/folder.desktop")
        #expect(unsafe mkfifo(home.path(of: "applications/pipe.desktop"), 0o600) == 0)
        #expect(unsafe symlink("/dev/zero", home.path(of: "applications/zero.desktop")) == 0)
        let entries = DesktopEntries(environment: ["XDG_DATA_HOME": home.path])
        for id in ["folder", "pipe", "zero"] as [AppID] { #expect(entries.find(id) == nil) }
    }

    // MARK: Directories

    @Test func `the first directory in order decides, even if it hides the app`() throws {
        let home = try TemporaryDirectory()
        for (folder, name) in [("one", "A"), ("two", "B"), ("three", "C")] {
            try home.makeDirectory("\(folder)/applications/sub")
            try home.write(
                "[Desktop Entry]\nType=Application\nName=\(name)\n", to: "\(folder)/applications/sub/a.desktop")
            if folder != "one" {
                try home.write(
                    "[Desktop Entry]\nType=Application\nName=\(name)\nHidden=\(folder == "two")\n",
                    to: "\(folder)/applications/a.desktop")
            }
        }
        func name(_ id: AppID, _ dataHome: String, _ others: String) -> String? {
            let folders = others.split(separator: ":").map { home.path(of: String($0)) }.joined(separator: ":")
            return DesktopEntries(environment: ["XDG_DATA_HOME": home.path(of: dataHome), "XDG_DATA_DIRS": folders])
                .find(id)?.name
        }
        #expect(name("a", "one", "three:two") == "C")
        #expect(name("a", "one", "two:three") == nil)
        #expect(name("sub-a", "none", "two:one") == "B")
        #expect(name("sub-b", "one", "two") == nil)
    }

    @Test func `relative directories are ignored`() {
        let environment = ["XDG_DATA_HOME": "share", "XDG_DATA_DIRS": "usr/share", "HOME": "home"]
        #expect(DesktopEntries(environment: environment).find("posthorn") == nil)
    }

    // MARK: Exec

    @Test(
        arguments: [
            ("app", ["app"]), ("app  a\tb ", ["app", "a", "b"]), ("app \"a b\" c", ["app", "a b", "c"]),
            ("app \"\"", ["app", ""]), ("\"/opt/my app/run\" x", ["/opt/my app/run", "x"]),
            (#"app "a\\"b\\\\c\\$d\\`e""#, ["app", "a\"b\\c$d`e"]), ("app --x=\"a b\"", ["app", "--x=a b"]),
            ("app %f %F %u %U x", ["app", "x"]), ("app --url=%u", ["app", "--url="]),
            ("app %% 100%%", ["app", "%", "100%"]),
            ("app %i", ["app", "--icon", "mail"]), ("app --name=%c", ["app", "--name=App"]),
            ("app %d %D %n %N %v %m", ["app"]),
            ("app a%fb", ["app", "ab"]),
        ] as [(String, [String])])
    func `an Exec line becomes an argument vector`(line: String, arguments: [String]) throws {
        #expect(try entry("Icon=mail\nExec=\(line)").0?.exec == arguments)
    }

    @Test func `%k is the file's path, and %i is empty without an icon`() throws {
        let (found, home) = try entry("Exec=app %i %k")
        #expect(found?.exec == ["app", "\(home.path)/applications/org.posthorn.Test.desktop"])
    }

    @Test(arguments: [
        "", " ", "%f", "app \"open", "app $HOME", "app `id`", "app $(id)", "app a;id", "app a&", "app a|b", "app >f",
        "app <f", "app 'a b'", "app *", "app ~", "app #a", "app \"$HOME\"", "app \"`id`\"", "app %x", "app 100%",
        "A=b app", #"app a\\ b"#, #"app "a\\n""#,
    ])
    func `an invalid Exec line runs nothing`(line: String) throws {
        let found = try entry("Exec=\(line)").0
        #expect(found != nil && found?.exec == nil)
    }

    @Test func `a program that needs a terminal is not started without one`() throws {
        let found = try entry("Terminal=true\nExec=top -d 1").0
        #expect(found?.exec == nil && found?.terminalExec == ["top", "-d", "1"])
        #expect(try entry("Terminal=false\nExec=top").0?.exec == ["top"])
        #expect(try entry("Terminal=false\nExec=top").0?.terminalExec == nil)
    }

    @Test(arguments: [(1, true), (4095, true), (4096, false), (50_000, false)])
    func `an icon that is too long for a path is ignored`(byteCount: Int, isIcon: Bool) throws {
        let icon = String(repeating: "i", count: byteCount)
        #expect(try entry("Icon=\(icon)").0?.icon == (isIcon ? icon : nil))
    }

    @Test(arguments: [
        ("mail-unread", true), ("/usr/share/pixmaps/mail.png", true), ("/", true), ("icons/mail.png", false),
        ("../mail.png", false), ("./mail", false), ("mail/", false), ("file:///mail.png", false),
    ])
    func `an icon is a name or an absolute path`(icon: String, isIcon: Bool) throws {
        #expect(try entry("Icon=\(icon)").0?.icon == (isIcon ? icon : nil))
    }

    @Test(arguments: ["/srv", "srv", ""])
    func `a relative working directory is ignored`(path: String) throws {
        #expect(try entry("Path=\(path)").0?.workingDirectory == (path == "/srv" ? "/srv" : nil))
    }
}
