// SPDX-License-Identifier: Apache-2.0

internal import Testing

// The tests of this target start several real programs each, and mostly wait for them. The machine may be small. So
// they run in three parallel lanes, one test after the other in each lane.

/// Tests of the server's APIs, limits and life cycle.
@Suite(.serialized) enum ServerEndToEnd {}

/// Tests of devices: their protocol, the agent and its presentation.
@Suite(.serialized) enum DeviceEndToEnd {}

/// Tests of the panel on a virtual display.
@Suite(.serialized) enum PanelEndToEnd {}
