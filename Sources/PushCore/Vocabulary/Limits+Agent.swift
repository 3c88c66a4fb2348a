// SPDX-License-Identifier: Apache-2.0

// The limits of the agent and its panel.

extension Limits {
    // MARK: The agent's panel

    /// The maximum number of alerts in the panel that wait for an answer.
    public static let panelAlertCountMax = 100
    /// The timeout from an alert to the panel's request for it; it includes the start of the panel.
    public static let panelFetchTimeout = Duration.seconds(10)
    /// The maximum number of consecutive panel restarts without an answer to an alert.
    public static let panelStartCountMax = 5
    /// The delay before the first restart of the panel; it doubles with each restart.
    public static let panelRestartDelay = Duration.milliseconds(500)
    /// The time for which the agent does not start a panel that failed.
    public static let panelFailureBackoff = Duration.seconds(60)
    /// The maximum number of bytes that a user can type into an alert.
    public static let replyByteCountMax = 16 * 1024
    /// The maximum length of the address in the member `url` of a payload, in bytes.
    public static let linkByteCountMax = 2048
    /// The maximum size of a picture that the agent fetches or reads, in bytes.
    public static let pictureByteCountMax = 5 * 1024 * 1024
    /// The time for which an alert waits for its picture.
    public static let pictureTimeout = Duration.seconds(5)
    /// The maximum width and height of a picture that the agent keeps, in pixels; a larger one is scaled down.
    public static let pictureSideMax = 1024
    /// The maximum number of redirects to a picture.
    public static let pictureRedirectCountMax = 3
    /// The maximum number of pictures of an app that are fetched and converted at a time.
    public static let pictureFetchCountMax = 4
    /// The maximum number of pictures of all apps that are fetched and converted at a time.
    public static let allPictureFetchCountMax = 16
    /// The maximum size of all stored pictures together, in bytes.
    public static let picturesByteCountMax = 64 * 1024 * 1024
    /// The time that the agent waits for the desktop portal's answer about a link.
    public static let portalAnswerTimeout = Duration.seconds(5)

    // MARK: The agent's reminders

    /// The maximum number of notifications that the user can be reminded of at the same time.
    public static let reminderCountMax = 100
    /// The maximum time to a reminder, in days.
    public static let reminderDaysMax: Int64 = 366

    // MARK: Programs that the agent starts

    /// The maximum number of standard error bytes that the agent copies to its log from one run of a program.
    ///
    /// The programs are hooks, filters and other programs that the agent starts.
    public static let programErrorByteCountMax = 64 * 1024
    /// The maximum number of alerts that wait for a hook while other hooks run.
    public static let hookWaitingCountMax = 100
    /// The delay before the agent retries a hook that could not be started.
    public static let hookRestartPause = Duration.seconds(60)
}
