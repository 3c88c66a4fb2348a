// SPDX-License-Identifier: Apache-2.0

@testable import PushCore
import TestSupport
import Testing

struct ProviderPathTests {
    @Test(
        arguments: [
            ("/3/device/a", .device(10..<11)), ("/3/device/0123456789abcdef", .device(10..<26)),
            ("/3/device/zz..#%20", .device(10..<18)),
            ("/3/device", .missingDeviceToken), ("/3/device/", .missingDeviceToken), ("", .unknown), ("/", .unknown),
            ("/3", .unknown),
            ("/3/devic", .unknown), ("/3/devices/a", .unknown), ("/2/device/a", .unknown), ("/3/DEVICE/a", .unknown),
            ("/3/device/a/", .unknown), ("/3/device/a/x", .unknown), ("/3/device//", .unknown),
            ("/3/device/a?x=1", .device(10..<15)),
            ("/3/device?x", .unknown), ("/3/device/?x", .device(10..<12)), ("3/device/a", .unknown),
            ("//3/device/a", .unknown),
            ("https://host/3/device/a", .unknown), ("*", .unknown),
            ("/4/broadcasts/apps/a.b", .broadcast(topic: 19..<22)), ("/4/broadcasts/apps/", .unknown),
            ("/4/broadcasts/apps/a/b", .unknown), ("/4/broadcasts/app/a", .unknown),
            ("/1/apps/a.b/channels", .channels(topic: 8..<11)), ("/1/apps/a/all-channels", .allChannels(topic: 8..<9)),
            ("/1/apps//channels", .unknownBelowApps), ("/1/apps/a/b/channels", .unknownBelowApps),
            ("/1/apps/", .unknownBelowApps), ("/1/apps/channels", .unknownBelowApps), ("/1/apps", .unknown),
            ("/1/apps/a/channels/x", .unknownBelowApps), ("/1/apps/a/nothing", .unknownBelowApps),
        ] as [(String, ProviderPath)])
    func `a path is classified by its bytes`(path: String, expected: ProviderPath) {
        #expect(ProviderPath.parse(bytes(path)) == expected)
    }
}
