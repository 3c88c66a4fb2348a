// SPDX-License-Identifier: Apache-2.0

internal import Testing

// The tests of this target start several real programs each, and mostly wait for them. The machine may be small. So
// they run in eleven parallel lanes, one test after the other in each lane.

/// Tests of the server's APIs and life cycle.
@Suite(.serialized) enum ServerEndToEnd {}

/// Tests of the server's TLS, credentials, and limits for unauthenticated peers.
@Suite(.serialized) enum SecurityEndToEnd {}

/// Tests of the administrator's API and of what it sets: quotas, certificates, webhooks, and the trace.
@Suite(.serialized) enum AdminEndToEnd {}

/// Tests of the device API with devices that the tests write themselves.
@Suite(.serialized) enum DeviceAPIEndToEnd {}

/// Tests of the agent on a device.
@Suite(.serialized) enum DeviceEndToEnd {}

/// Tests of what the agent shows on a screen.
@Suite(.serialized) enum DeviceScreenEndToEnd {}

/// Tests of the panel's list, and of many notifications in it.
@Suite(.serialized) enum PanelListEndToEnd {}

/// Tests of the panel's window and icons, and of its end.
@Suite(.serialized) enum PanelWindowEndToEnd {}

/// Tests of the panel's colors, sizes and texts.
@Suite(.serialized) enum PanelLookEndToEnd {}

/// Tests of the panel's settings, and of its server.
@Suite(.serialized) enum PanelSettingsEndToEnd {}

/// Tests of the panel's alerts.
@Suite(.serialized) enum PanelAlertEndToEnd {}
