// SPDX-License-Identifier: Apache-2.0

package import Testing

extension Trait where Self == ConditionTrait {
    /// Skips tests without the package `postgresql-15`; in `make test-cluster`, they fail without it.
    package static var needsPostgres: Self {
        .enabled(
            if: PostgresFixture.isInstalled || Patience.clusterSeconds != nil,
            "the package postgresql-15 is not installed")
    }
}
