// SPDX-License-Identifier: Apache-2.0

/// What the agent presents with: a desktop, a terminal, or nothing.
package struct Surroundings {
    /// `desktop`, `terminal` or `none`, for the status, which names the panel beside it.
    package var presenterName: String
    /// Shows alerts; nil leaves them to the inbox.
    package var presenter: (any AlertPresenter)?
    /// What waits for an answer in the panel; nil where alerts go elsewhere.
    package var panel: PanelAlerts?
    /// Puts numbers on icons.
    package var badges: (any BadgePresenter)?
    /// Runs the person's programs for each alert; nil for none.
    package var hooks: HookRunner?
    /// Plays sounds.
    package var sounds: (any SoundPresenter)?
    /// Looks at sounds that apps bring.
    var soundInstaller: SoundInstaller?
    /// Opens apps for View.
    package var opener: (any AppOpener)?
    /// Has apps change notifications.
    package var filter: (any AppFilter)?
    /// What is going on at the person's desk.
    package var desk: () -> DeskState
    /// Whether the desk knows what speaks against a sound; where it does not yet, what is given is called when it does.
    package var knowsSounds: (@escaping () -> Void) -> Bool = { _ in true }
    /// The manifest that an app installed; nil when there is none.
    package var manifest: (String) -> [UInt8]?
    /// The texts that an app installed, by key.
    package var texts: (String) -> AppTexts.Translation
    /// Name and icon from the .desktop file of an app id; nil when there is none.
    package var describeApp: (String) -> (name: String, icon: String?)?

    /// Joins the parts.
    package init(
        presenterName: String = "none", presenter: (any AlertPresenter)? = nil, badges: (any BadgePresenter)? = nil,
        hooks: HookRunner? = nil, sounds: (any SoundPresenter)? = nil, opener: (any AppOpener)? = nil,
        filter: (any AppFilter)? = nil,
        desk: @escaping () -> DeskState = { DeskState() }, manifest: @escaping (String) -> [UInt8]? = { _ in nil },
        texts: @escaping (String) -> AppTexts.Translation = { _ in { _ in nil } },
        describeApp: @escaping (String) -> (name: String, icon: String?)? = { _ in nil }
    ) {
        self.presenterName = presenterName
        self.presenter = presenter
        self.badges = badges
        self.hooks = hooks
        self.sounds = sounds
        self.opener = opener
        self.filter = filter
        self.desk = desk
        self.manifest = manifest
        self.texts = texts
        self.describeApp = describeApp
    }
}
