// SPDX-License-Identifier: Apache-2.0

internal import PushServer

/// Makes docs/reference/configuration.md from `ConfigurationKey.allCases`.
enum ConfigurationPage {
    static func render() -> String {
        """
        # Configuration

        <!-- Made from ConfigurationKey by `make pages`. -->

        ## The server

        `posthornd` needs no configuration. What is set comes from `/etc/posthorn/posthornd.ini` (or `--config FILE`), from
        the environment, and from options; the later wins. The file has sections and `name = value` lines; `#` and `;`
        begin comments. A line that is not understood stops the start: the message names file and line.
        `posthornd --check-config` reads everything, says what is wrong, and ends.

        \(table)

        `--ephemeral` starts a server that lives in a temporary directory on 127.0.0.1 and is gone when it ends; with it go
        `--topic NAME` (once for each topic) and `--port N`. See [test against a real server](../how-to/use-in-tests.md).

        SIGHUP reads `certificate_file` and `private_key_file` again; everything else needs a restart. SIGTERM and SIGINT
        end the server: see [delivery guarantees](../explanation/delivery-guarantees.md#when-the-server-ends).

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
        | `token.keys` | the keys of device tokens, newest first; without it every device token is lost |
        | `team-id` | the team of apps and keys that are made without naming one |
        | `authority.pem`, `authority.key` | the server's own certificate authority; devices and providers trust the first |
        | `server.pem`, `server.key`, `server.names` | the certificate that it issued, made anew 30 days before its end |
        | `admin.sock` | the admin API, unless it lies elsewhere |

        ## The agent

        `posthorn-agent` reads `$XDG_CONFIG_HOME/posthorn/agent.ini` (`~/.config/posthorn/agent.ini`), or `--config FILE`.
        It is for machines that enrol by themselves; a person uses `posthorn agent enrol` instead.

        | `[server]` | What |
        |---|---|
        | `url` | the server, for example `https://push.example.org:2197` |
        | `ca_file` | the authority to trust, PEM; without it the system's |
        | `enrolment_code` | the code, unless the server enrols without |
        | `name` | what people call this machine; without it the host's name |

        """
    }

    private static var table: String {
        let rows = ConfigurationKey.allCases.map { key in
            "| `[\(key.section)]` | `\(key.rawValue)` | `\(key.variable)` | `--\(key.flag) \(key.placeholder)` "
                + "| \(key.help) | \(key.defaultText) |"
        }
        return "| Section | Name | Variable | Option | What | Without it |\n|---|---|---|---|---|---|\n"
            + rows.joined(separator: "\n")
    }
}
