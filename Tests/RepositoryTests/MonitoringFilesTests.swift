// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import PushAPI
@testable import PushServer
internal import TestSupport
internal import Testing

/// Checks the files of `deploy/monitoring` with Prometheus' own tool and against the code.
struct MonitoringFilesTests {
    private static let folder = "\(RepositoryPaths.root)/deploy/monitoring"

    private func promtool(_ arguments: String...) async throws -> ProgramResult {
        try await RunningProcess.run(try RepositoryPaths.tool("promtool"), arguments)
    }

    @Test func `promtool accepts the rules and the example, and each alert passes its tests`() async throws {
        for arguments in [
            ["check", "rules", "posthorn.rules.yml"], ["test", "rules", "posthorn.rules.test.yml"],
            ["check", "config", "prometheus.yml"],
        ] {
            let result = try await promtool(arguments[0], arguments[1], "\(Self.folder)/\(arguments[2])")
            #expect(result.exit == .code(0), "\(result)")
        }
    }

    @Test func `each alert has a test that is silent and one that fires, and its remedy ends with a period`() {
        let rules = readText("\(Self.folder)/posthorn.rules.yml")
        let names = rules.matches(of: /- alert: (\w+)\n/).map { String($0.1) }
        let tests = readText("\(Self.folder)/posthorn.rules.test.yml").matches(of: /- name: (\w+ \w.*)\n/)
            .map { String($0.1) }
        #expect(names.count > 8 && tests == names.flatMap { ["\($0) is silent", "\($0) fires"] })
        #expect(rules.matches(of: /(?:summary|remedy): .*\.\n/).count == 2 * names.count)
    }

    @Test(arguments: ["posthorn.rules.yml", "posthorn.rules.test.yml", "grafana-dashboard.json"])
    func `a file names only metrics and labels that the server has`(file: String) {
        let text = readText("\(Self.folder)/\(file)")
        let suffixes = MetricFamily.all.flatMap { family in
            family.kind == .histogram
                ? ["_bucket", "_sum", "_count"].map { family.queryName + $0 } : [family.queryName]
        }
        let used = Set(text.matches(of: /\b(?:posthorn|process)_[a-z0-9_]+/).map { String($0.0) })
        #expect(used.count > 5 && used.subtracting(suffixes) == [])
        let labels = Set(MetricFamily.all.flatMap(\.labels)).union(["instance", "job", "le"])
        let usedLabels = Set(text.matches(of: /[{,] ?([a-z]+)=~?\\?"/).map { String($0.1) })
        #expect(usedLabels.subtracting(labels) == [])
    }

    @Test func `the admin API's page lists the codes of problems, and the alerts use no other`() throws {
        let codes = Set(ClusterAPI.ProblemCode.allCases.map(\.rawValue))
        let page = readText("\(RepositoryPaths.root)/docs/reference/admin-api.md")
        let list = try #require(page.firstMatch(of: /\nThe codes of problems never change: ([^.]+)\./)?.1)
        #expect(Set(list.matches(of: /`([a-z-]+)`/).map { String($0.1) }) == codes)
        let rules = readText("\(Self.folder)/posthorn.rules.yml")
        let used = rules.matches(of: /code=~?.([a-z|-]+)/).flatMap { $0.1.split(separator: "|").map(String.init) }
        #expect(used.count > 2 && Set(used).isSubset(of: codes))
    }

    @Test func `the dashboard has a dozen panels or more, each with a query of the selected data source`() throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(Self.folder)/grafana-dashboard.json"))
        let dashboard = try JSONDecoder().decode(Dashboard.self, from: data)
        #expect(dashboard.templating.list.first?.type == "datasource")
        #expect(dashboard.panels.count >= 12)
        #expect(Set(dashboard.panels.map(\.id)).count == dashboard.panels.count)
        for panel in dashboard.panels {
            #expect(!panel.targets.isEmpty && panel.targets.allSatisfy { !$0.expr.isEmpty }, "\(panel.title)")
            let sources = [panel.datasource.uid] + panel.targets.map(\.datasource.uid)
            #expect(Set(sources) == ["${datasource}"], "\(panel.title)")
            #expect(panel.gridPos.x + panel.gridPos.w <= 24)
        }
    }

    private struct Dashboard: Decodable {
        let templating: Templating
        let panels: [Panel]
    }

    private struct Templating: Decodable {
        let list: [Variable]
    }

    private struct Variable: Decodable {
        let type: String
    }

    private struct Panel: Decodable {
        let id: Int
        let title: String
        let datasource: DataSource
        let gridPos: Position
        let targets: [Target]
    }

    private struct Target: Decodable {
        let datasource: DataSource
        let expr: String
    }

    private struct DataSource: Decodable {
        let uid: String
    }

    private struct Position: Decodable {
        let x: Int
        let w: Int
    }
}
