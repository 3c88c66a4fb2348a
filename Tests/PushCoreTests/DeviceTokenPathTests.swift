// SPDX-License-Identifier: Apache-2.0

import PushCore
import Testing

struct DeviceTokenPathTests {
    @Test(
        arguments: [
            ("/3/device/a", .device(10..<11)), ("/3/device/0123456789abcdef", .device(10..<26)),
            ("/3/device/zz..#%20", .device(10..<18)),
            ("/3/device", .missingToken), ("/3/device/", .missingToken), ("", .badPath), ("/", .badPath),
            ("/3", .badPath),
            ("/3/devic", .badPath), ("/3/devices/a", .badPath), ("/2/device/a", .badPath), ("/3/DEVICE/a", .badPath),
            ("/3/device/a/", .badPath), ("/3/device/a/x", .badPath), ("/3/device//", .badPath),
            ("/3/device/a?x=1", .badPath),
            ("/3/device?x", .badPath), ("/3/device/?x", .badPath), ("3/device/a", .badPath), ("//3/device/a", .badPath),
            ("https://host/3/device/a", .badPath), ("*", .badPath),
        ] as [(String, DeviceTokenPath)])
    func `a path is sorted by its bytes`(path: String, expected: DeviceTokenPath) {
        #expect(DeviceTokenPath.parse(bytes(path)) == expected)
    }
}
