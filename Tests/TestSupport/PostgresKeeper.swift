// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A shell that starts PostgreSQL servers in a directory of its own, as a user other than root.
///
/// When its input ends, which happens at the latest when the test process ends, it stops the servers and deletes the
/// directory.
final class PostgresKeeper: Sendable {
    /// The directory of the servers and of their sockets.
    let directory: String
    private let process: RunningProcess
    private let queue: CommandQueue

    /// Starts the shell.
    ///
    /// - Throws: `MissingProgram` without the package `postgresql-15`.
    init() async throws {
        var words = ["/bin/sh", "-c", Self.script, "sh", try Self.programs()]
        if geteuid() == 0 {
            words =
                [
                    try RepositoryPaths.tool("setpriv"), "--reuid=nobody", "--regid=nogroup", "--clear-groups",
                ] + words
        }
        process = try RunningProcess(words[0], Array(words.dropFirst()), inheriting: false, hasInput: true)
        directory = try await process.outputLine(0)
        queue = CommandQueue()
    }

    deinit {
        process.endInput()
        // The last reference kills the process, which must delete its files before.
        let process = process
        Thread.detachNewThread {
            while process.exit == nil { usleep(20_000) }
        }
    }

    /// Runs a command in the directory, with the programs of PostgreSQL and the functions of the script below.
    ///
    /// - Parameter command: The command, in one line.
    /// - Throws: `UnexpectedOutput` with the output of all commands if it fails.
    func run(_ command: String) async throws {
        try await queue.run { [process, directory] index in
            try process.write(command + "\n")
            let status = try await process.outputLine(index, within: .seconds(60))
            guard status == "0" else {
                let log = readText("\(directory)/commands.log")
                let result = ProgramResult(exit: .code(Int32(status) ?? -1), output: log, errorOutput: "")
                throw UnexpectedOutput(result: result, problem: command)
            }
        }
    }

    /// Sets the environment variables of the servers that are started from now on.
    func setVariables(_ environment: [String: String]) async throws {
        try await run("variables='\(environment.map { "\($0)=\($1)" }.joined(separator: " "))'")
    }

    /// Returns the directory of PostgreSQL's programs.
    static func programs() throws -> String {
        let path = "/usr/lib/postgresql/15/bin"
        guard FileManager.default.isExecutableFile(atPath: "\(path)/postgres") else {
            throw MissingProgram(name: "postgresql-15")
        }
        return path
    }

    /// Each line of the input is a command; each is answered with its status.
    private static let script = #"""
        PATH=$1:$PATH
        # A file system in memory makes fsync cheap; a server with its log needs some hundred megabytes.
        parent=/tmp
        [ "$(df --output=avail -m /dev/shm 2>/dev/null | tail -n 1)" -gt 2000 ] 2>/dev/null && parent=/dev/shm
        root=$(mktemp -d "$parent/posthorn.XXXXXX") && cd "$root" && echo "$root" || exit 1

        # make NAME PORT: a new database cluster, whose port is only a part of the name of its socket.
        make() {
            initdb --pgdata="$1" --no-sync --auth=trust --username=postgres --encoding=UTF8 --no-locale &&
                cat >>"$1/postgresql.conf" <<END
        port = $2
        listen_addresses = ''
        unix_socket_directories = '$root'
        shared_buffers = 32MB
        huge_pages = off
        max_connections = 200
        max_wal_senders = 10
        min_wal_size = 32MB
        max_wal_size = 512MB
        wal_keep_size = 256MB
        wal_receiver_timeout = 5s
        wal_sender_timeout = 5s
        wal_retrieve_retry_interval = 200ms
        dynamic_shared_memory_type = mmap
        jit = off
        autovacuum_naptime = 5s
        END
        }

        # secure NAME: a certificate, and access over TLS.
        secure() {
            openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
                -keyout "$1/server.key" -out "$1/server.crt" &&
                echo "hostssl all all 127.0.0.1/32 trust" >>"$1/pg_hba.conf" &&
                printf "ssl = on\nlisten_addresses = '127.0.0.1'\n" >>"$1/postgresql.conf"
        }

        # launch NAME: starts a server with the environment $variables, and waits until it accepts connections.
        launch() {
            # A killed server stays a zombie until then, and its lock file would count as that of a running one.
            [ ! -f "$1/postmaster.pid" ] || wait "$(sed -n 1p "$1/postmaster.pid")"
            forget_clock "$1"
            env $variables postgres -D "$root/$1" >>"$1.log" 2>&1 </dev/null &
            pid=$!
            while kill -0 $pid 2>/dev/null; do
                if [ "$(sed -n 1p "$1/postmaster.pid" 2>/dev/null)" = $pid ]; then
                    case $(sed -n 8p "$1/postmaster.pid" 2>/dev/null) in ready*) return 0 ;; esac
                fi
                sleep 0.02
            done
            wait $pid
            tail -n 20 "$1.log"
            return 1
        }

        # halt NAME: stops a server as after a crash.
        halt() {
            pid=$(sed -n 1p "$1/postmaster.pid" 2>/dev/null) && [ -n "$pid" ] || return 0
            kill -QUIT "$pid" 2>/dev/null
            kill -CONT "$pid" 2>/dev/null
            wait "$pid"
            release "$1"
        }

        # forget_clock NAME: removes the shared memory of the library for a fake clock, which a killed server leaves.
        forget_clock() {
            server=$(sed -n 1p "$1/postmaster.pid" 2>/dev/null)
            rm -f "/dev/shm/faketime_shm_$server" "/dev/shm/sem.faketime_sem_$server"
        }

        # release NAME: removes the segment of shared memory that a killed server leaves.
        release() {
            forget_clock "$1"
            segment=$(sed -n 7p "$1/postmaster.pid" 2>/dev/null)
            [ -z "$segment" ] || ipcrm --shmem-id "${segment##* }" 2>/dev/null
            return 0
        }

        # copy NAME PORT PRIMARY-PORT: makes a standby of a running server.
        copy() {
            release "$1"
            rm -rf "$1"
            pg_basebackup --host="$root" --port="$3" --username=postgres --pgdata="$1" --write-recovery-conf \
                --wal-method=stream --checkpoint=fast --no-sync &&
                printf "port = %s\nprimary_conninfo = '%s'\n" "$2" \
                    "host=$root port=$3 user=postgres application_name=$1" >>"$1/postgresql.auto.conf"
        }

        while read -r command; do
            eval "$command" >>commands.log 2>&1 </dev/null
            echo $?
        done
        for data in */postmaster.pid; do
            [ -f "$data" ] && halt "${data%/*}"
        done
        rm -rf "$root"
        """#
}

/// Runs commands one after the other, and counts them.
private actor CommandQueue {
    private var count = 0
    private var last: Task<Void, any Error>?

    func run(_ command: @escaping @Sendable (Int) async throws -> Void) async throws {
        count += 1
        let (index, earlier) = (count, last)
        let task = Task {
            _ = await earlier?.result
            try await command(index)
        }
        last = task
        try await task.value
    }
}
