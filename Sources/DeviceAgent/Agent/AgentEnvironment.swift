// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushCore

/// The services of the environment that the agent uses: presenters, sounds, apps and session state.
package struct AgentEnvironment {
    /// The presenter's name in the status: `desktop`, `terminal` or `none`; the status adds the panel.
    var presenterName: String
    /// The presenter; nil if alerts stay in the inbox.
    var presenter: (any AlertPresenter)?
    /// The alerts that wait in the panel; nil where alerts go elsewhere.
    var panel: PanelAlerts?
    var badges: (any BadgePresenter)?
    /// The runner of the user's hooks; nil for none.
    var hooks: HookRunner?
    var sounds: (any SoundPresenter)?
    /// The validator and installer of apps' sounds.
    var soundInstaller: SoundInstaller?
    var opener: (any AppOpener)?
    /// The runner of apps' filters.
    var filter: (any AppFilter)?
    /// Returns the state of the desktop session, such as a locked screen or do-not-disturb.
    var currentDesktopState: () -> DesktopState
    /// Whether the state of the sound system is known; otherwise the closure is called once it is known.
    var knowsSounds: (@escaping () -> Void) -> Bool = { _ in true }
    /// Returns the manifest that an app installed; nil if it installed none.
    var manifest: (AppID) -> [UInt8]?
    /// Returns the look-up for the texts that an app installed.
    var texts: (AppID) -> AppTranslation
    /// Returns the name and the icon from the .desktop file of an app ID; nil if the file does not exist.
    var describeApp: (AppID) -> (name: String, icon: String?)?
    /// The means of getting pictures; nil for an agent that shows none.
    var pictures: PictureQueue.Means?
    /// The sender of the requests of buttons; nil for an agent that sends none.
    var buttonRequests: ButtonRequestSender?
    /// Returns the URL schemes that the .desktop file of an app ID registers; nil if the file does not exist.
    var linkSchemes: (AppID) -> [String]? = { _ in [] }

    init(
        presenterName: String = "none", presenter: (any AlertPresenter)? = nil, badges: (any BadgePresenter)? = nil,
        hooks: HookRunner? = nil, sounds: (any SoundPresenter)? = nil, opener: (any AppOpener)? = nil,
        filter: (any AppFilter)? = nil,
        currentDesktopState: @escaping () -> DesktopState = { DesktopState() },
        manifest: @escaping (AppID) -> [UInt8]? = { _ in nil },
        texts: @escaping (AppID) -> AppTranslation = { _ in { _ in nil } },
        describeApp: @escaping (AppID) -> (name: String, icon: String?)? = { _ in nil }
    ) {
        self.presenterName = presenterName
        self.presenter = presenter
        self.badges = badges
        self.hooks = hooks
        self.sounds = sounds
        self.opener = opener
        self.filter = filter
        self.currentDesktopState = currentDesktopState
        self.manifest = manifest
        self.texts = texts
        self.describeApp = describeApp
    }
}
