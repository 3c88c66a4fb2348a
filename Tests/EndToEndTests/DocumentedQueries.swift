// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// The queries of the dashboard and of the page about monitoring.
struct DocumentedQueries {
    private struct Dashboard: Decodable {
        struct Panel: Decodable {
            let targets: [Target]
        }

        struct Target: Decodable {
            let expr: String
        }

        let panels: [Panel]
    }

    /// The queries for which each server has data.
    let ofServer: [String]
    /// The queries for which only a node of a cluster has data.
    let ofCluster: [String]

    init() throws {
        let file = readText("\(RepositoryPaths.root)/deploy/monitoring/grafana-dashboard.json")
        let panels = try JSONDecoder().decode(Dashboard.self, from: Data(file.utf8)).panels.flatMap(\.targets).map {
            $0.expr.replacing("$__rate_interval", with: "1m").replacing("$instance", with: ".*")
        }
        let page = readText("\(RepositoryPaths.root)/docs/how-to/monitor.md")
        let examples = page.matches(of: /\| `([^`]*posthorn_[^`]*)` \|/).map { String($0.1) }
        let isOfCluster = { (query: String) in
            query.contains(/posthorn_(?:pg|cluster|lease|links|clock|pushes)_/)
        }
        ofServer = (panels + examples).filter { !isOfCluster($0) }
        ofCluster = panels.filter(isOfCluster)
        #expect(ofServer.count > 25 && ofCluster.count > 5 && examples.count == 5)
    }

    /// Checks that Prometheus has data for each query, except those that show only what is above 0.
    func expectAnswers(to queries: [String], from prometheus: Prometheus) async throws {
        for query in queries {
            try await eventually("data for \(query)", evidence: { prometheus.transcript }) {
                let answer = try await prometheus.get(
                    "/api/v1/query", ["--get", "--data-urlencode", "query=\(query)"])
                #expect(answer.contains(#""status":"success""#), "\(query): \(answer)")
                return query.hasSuffix("> 0") || answer.contains(#""result":[{"#)
            }
        }
    }
}
