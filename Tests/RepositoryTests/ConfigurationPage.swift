// SPDX-License-Identifier: Apache-2.0

@testable import PushServer

/// Generates docs/reference/configuration.md from `ConfigurationKey.allCases`.
enum ConfigurationPage {
    static func render() -> String {
        """
        # Configuration

        <!-- Made from ConfigurationKey by `make pages`. -->

        ## The server

        `posthornd` needs no configuration. Settings come from `/etc/posthorn/posthornd.ini` (or `--config FILE`), the
        environment and options; each overrides the previous ones. The file has sections and `name = value` lines of up to
        16 KiB; `#` and `;` start comments. The server does not start if a line is invalid; the error message names the
        file and the line. `posthornd --check-config` checks all settings, reports errors, and exits.

        \(table)

        `--ephemeral` starts a server for tests on 127.0.0.1. The server keeps its data in a temporary directory, which
        it removes when it stops. The options `--topic NAME` (for each topic), `--port N`,
        `--full` and `--env-file FILE` belong to `--ephemeral`.
        See [test against a real server](../how-to/use-in-tests.md).

        SIGHUP (`systemctl reload posthornd`) reads the configuration and the certificate files again, and applies what
        changed. If something is invalid, the server logs it and keeps the former values. A change of one of these settings
        takes effect only after a restart, and the server logs their names: \(restartSettings). The same applies when
        `certificate_file` is set for the first time, or removed. SIGTERM and SIGINT stop the server: see
        [delivery guarantees](../explanation/delivery-guarantees.md#when-the-server-ends).

        If `XDG_DATA_HOME` is set, it replaces `~/.local/share`, except for root.

        [deploy/posthornd.ini](../../deploy/posthornd.ini) is a sample file with every setting as a comment.

        ## Variables of systemd

        In a unit with `StateDirectory=` and `RuntimeDirectory=`, `$STATE_DIRECTORY` is the data directory, and
        `$RUNTIME_DIRECTORY` contains the admin socket, unless the configuration sets other paths. If `$JOURNAL_STREAM`
        is set, log lines contain their level in the format of the journal.

        \(dataDirectory)

        \(agent)

        """
    }

    private static var restartSettings: String {
        let names = ConfigurationKey.allCases.filter(\.needsRestart).map { "`\($0.rawValue)`" }
        return names.joined(separator: ", ")
    }

    private static var dataDirectory: String {
        """
        ## The data directory

        The server creates the data directory with mode 0700 on first start. `posthorn backup`
        copies it while the server runs; a plain copy of a running server's files is not consistent.

        | File | Content |
        |---|---|
        | `posthorn.sqlite` (`-wal`) | apps, keys, devices, registrations, pending notifications |
        | `posthorn.sqlite-reserve` | nothing; the server frees this space when the disk is full, so that deletions still work |
        | `token.keys` | the keys of device tokens, newest first; without this file, all device tokens are invalid |
        | `team-id` | the default team of apps and keys |
        | `authority.pem`, `authority.key` | the server's own CA, which also signs client certificates of providers; devices and providers trust `authority.pem`, unless a certificate is configured |
        | `authority-next.pem`, `authority-next.key` | the server's own next CA, while a rotation is in progress |
        | `authorities.json`, `authorities.pem` | the CAs that the server announces to devices; the server's own CAs, including earlier ones, for provider certificates |
        | `server.pem`, `server.key`, `server.names` | the certificate that the CA issued; renewed in its last 30 days, and at a start with other names |
        | `cluster.key` (`.next`, `.previous`) | the key of a cluster, unless `key_file` is set; the one that will be used, and the one before the last [rotation](../how-to/several-machines.md#replace-the-key-of-the-cluster) |
        | `admin.sock` | the socket of the admin API, unless `admin_socket` is set |
        """
    }

    private static var agent: String {
        """
        ## The agent

        When it starts, `posthorn-agent` reads `$XDG_CONFIG_HOME/posthorn/agent.ini` (`~/.config/posthorn/agent.ini`), or
        `--config FILE`. The file is for machines that enrol unattended; users run `posthorn agent enrol` instead.

        | `[server]` | Description |
        |---|---|
        | `url` | The server, for example `https://push.example.org:2197`. |
        | `ca_file` | The CA certificates (PEM) to trust for this server, in addition to those that the server announces. Default: the CA that the code identifies, or the system's CAs. |
        | `enrolment_code` | An enrolment code for this machine; not needed if the server allows open enrolment. |
        | `name` | The device name that administrators see. Default: the user and the host name, such as `anna@desk`. |
        | `stream` | The transport: `websocket`, `events` (server-sent events), or `auto`, which tries both in this order. Default: `auto`. |
        | `proxy` | The proxy: `http://`, `https://`, `socks5://` or `socks5h://` and `HOST:PORT`, with `USER:PASSWORD@` before the host if the proxy requires it; or `none`. Default: the variables `https_proxy` and `no_proxy`. |
        | `client_cert`, `client_key` | The client certificate and its private key (PEM), if the server or a reverse proxy requires them. Default for `client_key`: the key in the file `client_cert`. |

        `proxy`, `client_cert` and `client_key` also apply after a manual enrolment. `posthornd` identifies a device by
        its secret and requires no client certificate, but a reverse proxy may require one. Set `https_proxy` and
        `no_proxy` for the service, for example in systemd's `environment.d`, and not only in a shell.
        """
    }

    private static var table: String {
        let rows = keysBySection.map { key in
            "| `[\(key.section)]` | `\(key.rawValue)` | `\(key.variable)` | `--\(key.flag) \(cell(key.placeholder))` "
                + "| \(cell(key.help)) | \(cell(key.defaultText)) |"
        }
        return "| Section | Name | Variable | Option | Description | Default |\n|---|---|---|---|---|---|\n"
            + rows.joined(separator: "\n")
    }

    /// The settings grouped by section, in the order in which the sections first appear.
    private static var keysBySection: [ConfigurationKey] {
        var sections: [String] = []
        for key in ConfigurationKey.allCases where !sections.contains(key.section) { sections.append(key.section) }
        return sections.flatMap { section in ConfigurationKey.allCases.filter { $0.section == section } }
    }

    /// Escapes vertical bars for a table cell.
    ///
    /// An unescaped bar ends the cell, even inside code.
    private static func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }
}
