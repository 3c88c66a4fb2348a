// SPDX-License-Identifier: Apache-2.0

@testable import PushPostgres
import Testing

@Suite struct PostgresAddressTests {
    @Test(arguments: [
        "postgresql://posthorn@db1,db2,db3/posthorn?sslmode=verify-full",
        "postgresql://posthorn@db1/posthorn?sslmode=disable",
        "postgresql://posthorn@localhost:6432/posthorn",
        "postgresql://posthorn@127.0.0.1,[::1]/posthorn",
        "postgresql://posthorn@%2Fvar%2Frun/posthorn",
        "postgresql://posthorn@/posthorn?host=/tmp/a,/tmp/b&port=5432,5433",
        "postgresql:///posthorn",
        "postgresql://posthorn@db1/posthorn?hostaddr=127.0.0.1",
    ])
    func `an address with a protected connection is accepted`(text: String) throws {
        _ = try PostgresAddress(text)
    }

    @Test(arguments: [
        ("postgresql://posthorn@db1/posthorn", String?.none),
        ("postgresql://posthorn@db1/posthorn?sslmode=require", "require"),
        ("postgresql://posthorn@db1/posthorn?sslmode=verify-ca", "verify-ca"),
        ("postgresql://posthorn@localhost,db1/posthorn", nil),
        ("postgresql://posthorn@localhost/posthorn?hostaddr=192.0.2.1", nil),
    ])
    func `an address of another machine without verified TLS is refused`(text: String, mode: String?) {
        let error = #expect(throws: PostgresAddressError.self) { try PostgresAddress(text) }
        guard case .unencrypted(let host, mode) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(host == "db1" || host == "192.0.2.1")
        #expect(error?.description.contains("sslmode=verify-full") == true)
    }

    @Test(arguments: ["127.0.0.1.example.org", "localhost.example.org", "127example", "1270.0.0.1"])
    func `a name that resembles a loopback address is another machine`(host: String) {
        #expect(throws: PostgresAddressError.self) { try PostgresAddress("postgresql://p@\(host)/d") }
    }

    @Test(arguments: [
        "", "posthorn", "host=db1 dbname=posthorn", "mysql://db1/posthorn", "postgresql://db1:0/p?sslmode=disable",
        "postgresql://db1:65536/p?sslmode=disable", "postgresql://db1:x/p?sslmode=disable",
        "postgresql://a,b,c/p?port=1,2&sslmode=disable", "postgresql://a,b/p?hostaddr=127.0.0.1",
        "postgresql://db1/p?nonsense=1", "postgresql://[::1/p", "postgresql://db1/p?%zz=1", "postgresql://db1/a\0b",
        "postgresql://db1/p?sslmode=disable&service=x", "postgresql://db1/p?sslmode=disable&options=-cfsync%3Doff",
        "postgresql://db1/p?sslmode=disable&target_session_attrs=any",
        "postgresql://db1/p?sslmode=disable&replication=true",
    ])
    func `a text that is not a usable address is refused`(text: String) {
        #expect(throws: PostgresAddressError.self) { try PostgresAddress(text) }
    }

    @Test func `an unknown parameter is named`() {
        let error = #expect(throws: PostgresAddressError.self) { try PostgresAddress("postgresql://db1/p?sslmod=x") }
        #expect(error?.description.contains("sslmod") == true)
    }

    @Test(arguments: [
        "postgresql://u:Se%zzcret@db1/p", "postgresql://u:Secret@[::1/p", "postgresql://u:Secret@db1:99999/p",
        "postgresql://u:Secret@db1/p?=", "postgresql://u:Secret@db1/p?password=Sec%00ret",
        "postgresql://u:Secret@db1/p",
        "postgresql://u@db1/p?password=Secret", "postgresql://u:Secret@db1/p?x=Secret", "Secret",
        "postgresql://u:Secret@db1]:5/p", "postgresql://u:Secret@db1/p?password=Sec=ret",
    ])
    func `no error shows the password`(text: String) {
        let error = #expect(throws: PostgresAddressError.self) { try PostgresAddress(text) }
        #expect(error?.description.contains("Sec") == false, "\(error?.description ?? "")")
        #expect(error?.description.contains("ret") == false, "\(error?.description ?? "")")
    }

    @Test(arguments: [
        (
            "postgresql://posthorn:Secret@db1:5433,db2/posthorn?sslmode=verify-full&sslpassword=Secret",
            "postgresql://posthorn@db1:5433,db2/posthorn"
        ),
        ("postgresql://p@[::1]:5433/d?password=Secret", "postgresql://p@[::1]:5433/d"),
        ("postgresql://p@/d?host=/tmp/a,/tmp/b&port=1,2", "postgresql://p@/tmp/a:1,/tmp/b:2/d"),
        ("postgresql:///d", "postgresql:///var/run/postgresql/d"),
    ])
    func `the description shows user, hosts and database only`(text: String, expected: String) throws {
        #expect(try PostgresAddress(text).description == expected)
    }

    @Test func `the parameters for libpq contain the settings and safe defaults`() throws {
        let address = try PostgresAddress("postgresql://p@localhost/d?connect_timeout=60")
        var settings = PostgresSettings(applicationName: "test", schema: "s")
        settings.connectTimeoutSeconds = 3
        settings.passwordFile = "/run/password"
        let all = address.parameters + settings.parameters
        let values = Dictionary(all.map { ($0.keyword, $0.value) }) { $1 }
        #expect(values["target_session_attrs"] == "read-write")
        #expect(values["application_name"] == "test")
        #expect(values["connect_timeout"] == "3")
        #expect(values["keepalives"] == "1")
        #expect(values["passfile"] == "/run/password")
        #expect(values["sslmode"] == "prefer")
        #expect(values["gssencmode"] == "disable")
    }

    @Test func `the name of the schema is quoted`() {
        let settings = PostgresSettings(applicationName: "test", schema: "a\"; DROP TABLE x")
        #expect(settings.script.hasSuffix("SET search_path = \"a\"\"; DROP TABLE x\""))
    }
}
