// SPDX-License-Identifier: Apache-2.0

internal import PushServer

/// Generates docs/reference/configuration.md from `ConfigurationKey.allCases`.
enum ConfigurationPage {
    static func render() -> String {
        """
        # Configuration

        <!-- Made from ConfigurationKey by `make pages`. -->

        ## The server

        `posthornd` needs no configuration. Settings come from `/etc/posthorn/posthornd.ini` (or `--config FILE`), the
        environment and options; each overrides the previous ones. The file has sections and `name = value` lines; `#` and `;`
        start comments. The server does not start if a line is invalid; the error message names the file and the line.
        `posthornd --check-config` checks all settings, reports errors, and exits.

        \(table)

        `--ephemeral` starts a server on 127.0.0.1 that lives in a temporary directory and removes it at its end; with it go
        `--topic NAME` (once for each topic) and `--port N`. See [test against a real server](../how-to/use-in-tests.md).

        SIGHUP reads the files of `certificate_file`, `private_key_file` and `client_ca_files` again; everything else needs a
        restart. SIGTERM and SIGINT
        end the server: see [delivery guarantees](../explanation/delivery-guarantees.md#when-the-server-ends).

        Where `XDG_DATA_HOME` is set, it stands for `~/.local/share`, except for root.

        The whole file with every setting as a comment: [deploy/posthornd.ini](../../deploy/posthornd.ini).

        ## What systemd hands over

        In a unit with `StateDirectory=` and `RuntimeDirectory=`, `$STATE_DIRECTORY` is the data directory and
        `$RUNTIME_DIRECTORY` holds the admin socket, unless they are set otherwise. With `$JOURNAL_STREAM` log lines carry
        their level the way the journal reads it.

        ## The data directory

        Made with mode 0700 on first start. Back it up as a whole.

        | File | What |
        |---|---|
        | `posthorn.sqlite` (`-wal`, `-shm`) | apps, keys, devices, registrations, pending notifications |
        | `posthorn.sqlite-reserve` | nothing: space to give up when the disk is full, so that deletions can go on |
        | `token.keys` | the keys of device tokens, newest first; without it every device token is lost |
        | `team-id` | the team of apps and keys that are made without naming one |
        | `authority.pem`, `authority.key` | the server's own certificate authority, which signs providers' certificates too; devices and providers trust the first, unless a certificate is configured |
        | `server.pem`, `server.key`, `server.names` | the certificate that it issued; replaced at a start during its last 30 days, or for other names |
        | `admin.sock` | the admin API, unless it lies elsewhere |

        ## The agent

        `posthorn-agent` reads `$XDG_CONFIG_HOME/posthorn/agent.ini` (`~/.config/posthorn/agent.ini`), or `--config FILE`.
        It is for machines that enrol by themselves; a person uses `posthorn agent enrol` instead.

        | `[server]` | What |
        |---|---|
        | `url` | the server, for example `https://push.example.org:2197` |
        | `ca_file` | the authority to trust, PEM; without it the one that the code names, or the system's |
        | `enrolment_code` | a code of this machine's own, unless the server enrols without |
        | `name` | what people call this machine; without it the host's name |
        | `stream` | how notifications come: `websocket`, `events` (server-sent events), or `auto`, which falls back from one to the other; without it `auto` |
        | `proxy` | proxy to the server: `http://`, `https://`, `socks5://` or `socks5h://` before `HOST:PORT`, with `USER:PASSWORD@` where it wants that; `none` for none; without it what the variables `https_proxy` and `no_proxy` say |
        | `client_cert`, `client_key` | PEM files of a certificate and its key, for a server, or something before it, that asks for one; without `client_key` the key is in `client_cert` |

        `proxy`, `client_cert` and `client_key` hold for what a person enrols, too. The agent reads the file when it starts.
        `posthornd` knows a device by its secret and wants no certificate; a proxy before it may.
        `https_proxy` and `no_proxy` must be variables of the service, as systemd's `environment.d` makes them, not of a shell.

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
