// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// `posthorn enrol`: lets one more device in.
package enum EnrolCommand {
    static let node = CommandNode(
        Command(
            "enrol", "Make a code with which one device can enrol.",
            discussion: """
                Prints the code and the command to run on the device; the panel's settings there take the code, too. A code \
                is good once. Where the server's certificate comes from its own authority, the code names that, so that \
                the device needs no file.
                """,
            examples: [Explanation("posthorn enrol", "Then run the printed command on the device.")])
    ) { (invocation, surroundings) throws(CommandError) in
        let request = AdminRequest.post("enrolment-codes")
        return report(of: try surroundings.admin(invocation).send(request, for: AdminAPI.EnrolmentCode.self))
    }

    /// What `enrol` prints.
    package static func report(of code: AdminAPI.EnrolmentCode) -> Report {
        let fields = Table.fields([("Code", code.code), ("Good until", LocalTime.text(unixSeconds: code.expiresAt))])
        let text = "\(fields)\n\nOn the device, run:\n\n  \(deviceCommand(for: code))"
        return Report(text, json: code)
    }

    /// The command to run on the device, as a shell takes it.
    package static func deviceCommand(for code: AdminAPI.EnrolmentCode) -> String {
        let words = ["posthorn", "agent", "enrol", code.serverURL, code.code]
        return words.map(shellWord).joined(separator: " ")
    }

    /// The word as it is where a shell takes it so, in quotes otherwise.
    private static func shellWord(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "+"):
                true
            default:
                false
            }
        }
        guard !isPlain || word.isEmpty else { return word }
        let pieces = oneLine(word).split(separator: "'", omittingEmptySubsequences: false)
        return "'" + pieces.joined(separator: "'\\''") + "'"
    }
}
