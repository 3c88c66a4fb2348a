// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushAPI
internal import PushCore
internal import Testing

struct LaterChoiceTests {
    /// Returns the local time of day in seconds.
    private func clock(_ time: Timestamp) -> Int {
        var seconds = time_t(time.unixSeconds)
        var parts = unsafe tm()
        unsafe localtime_r(&seconds, &parts)
        return unsafe Int(parts.tm_hour) * 3600 + Int(parts.tm_min) * 60 + Int(parts.tm_sec)
    }

    @Test(arguments: 0..<50)
    func `evening is the next 18 o'clock, and tomorrow the next 7 o'clock, at any time of the day`(step: Int) {
        let now = Timestamp(unixSeconds: 1_795_300_715 + Int64(step) * 1800)
        #expect(LaterChoice.oneHour.time(after: now) == now.advanced(bySeconds: 3600))
        for (choice, hour) in [(LaterChoice.thisEvening, 18), (.tomorrowMorning, 7)] {
            let time = choice.time(after: now)
            #expect(clock(time) == hour * 3600)
            // A day with a change to winter time has 25 hours.
            #expect(time > now && time.seconds(since: now) <= 25 * 3600)
        }
    }

    @Test func `at exactly 18 o'clock, evening is tomorrow's`() {
        let evening = LaterChoice.thisEvening.time(after: Timestamp(unixSeconds: 1_795_300_715))
        #expect(LaterChoice.thisEvening.time(after: evening) > evening.advanced(bySeconds: 22 * 3600))
    }
}
