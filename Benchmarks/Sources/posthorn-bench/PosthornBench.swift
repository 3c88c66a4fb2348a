// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The load generator, which is described in Benchmarks/README.md.
@main struct PosthornBench {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        let options = Options(CommandLine.arguments)
        switch options.command {
        case "enrol": enrol(options)
        case "load": LoadSession(options).run()
        case "storm": Storm(options).run()
        case "soak": Soak(options).run()
        case "upgrade", "outage": Upgrade(options).run()
        default: fail(Options.usage)
        }
    }

    private static func enrol(_ options: Options) {
        let loop = Loop()
        let target = Target(port: UInt16(clamping: options.number("port")), protocols: "h2")
        let enrolment = Enrolment(
            loop, target, topic: options.text("topic"), channel: options.optional("channel"),
            count: options.number("count"))
        loop.atEndOfTurn = {
            enrolment.startMore()
            return 100_000_000
        }
        loop.run()
        guard let file = fopen(options.text("out"), "w") else { fail("cannot write \(options.text("out"))") }
        for device in enrolment.devices { fputs("\(device.secret) \(device.token)\n", file) }
        fclose(file)
        answer("\"enrolled\":\(enrolment.devices.count)")
    }
}
