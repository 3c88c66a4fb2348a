// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI

/// The command `posthorn enrol`: creates a code with which one device can enrol.
enum EnrolCommand {
    static let node = CommandNode(
        Command(
            "enrol", "Create a single-use enrolment code.",
            discussion: """
                Prints the code and the command to run on the device; the code can also be entered in the settings of \
                the panel. A code works once, within 24 hours. If the server's own CA signed its certificate, the code \
                contains the fingerprint of that CA, so the device needs no CA file.

                To list unused codes, run 'posthorn code list'; to revoke one, run 'posthorn code revoke'.
                """,
            examples: [Explanation("posthorn enrol", "Create a code, then run the printed command on the device.")])
    ) { (invocation, context) throws(CommandError) in
        let request = AdminRequest.post("enrolment-codes")
        let code = try context.admin(invocation).send(request, for: CredentialAPI.EnrolmentCode.self)
        return report(of: code, isUnknownHere: HostName.isUnknownHere(HostName.host(of: code.serverURL)))
    }

    /// Formats the output of `enrol`.
    ///
    /// If `isUnknownHere`, the server's name is this machine's own name and cannot be resolved. The device is then
    /// probably this machine, so the printed command uses `localhost`, which the server's certificate also contains.
    static func report(of code: CredentialAPI.EnrolmentCode, isUnknownHere: Bool = false) -> Report {
        let fields = Table.fields(
            [("Code", code.code)] + (code.id.map { [(name: "ID", value: $0)] } ?? [])
                + [("Valid until", LocalTime.text(code.expiresAt))])
        guard isUnknownHere else {
            return Report("\(fields)\n\nOn the device, run:\n\n  \(deviceCommand(for: code))", json: code)
        }
        let host = HostName.host(of: code.serverURL)
        let text = """
            \(fields)

            This machine cannot resolve the server's name \(oneLine(host)). For other devices, set 'names' in
            /etc/posthorn/posthornd.ini to a name that they can resolve. On this machine, run:

              \(deviceCommand(for: code, isLocal: true))
            """
        return Report(text, json: code)
    }

    /// Returns the shell command that the user runs on the device.
    static func deviceCommand(for code: CredentialAPI.EnrolmentCode, isLocal: Bool = false) -> String {
        let url = isLocal ? HostName.localURL(code.serverURL) : code.serverURL
        let words = ["posthorn", "agent", "enrol", url, code.code]
        return words.map(shellWord).joined(separator: " ")
    }

    /// Quotes a word for the shell if it contains special characters.
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
