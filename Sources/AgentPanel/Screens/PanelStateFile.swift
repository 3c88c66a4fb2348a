// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit

/// The file in which the panel keeps its state: `posthorn/panel.ini` in the user's state directory.
final class PanelStateFile {
    private let file = StateFile("panel.ini", inFolder: "posthorn")
    private static let group = "panel"

    /// The state in the file.
    var state: PanelState { PanelState { file[Self.group, $0.rawValue] } }

    /// Writes the state; if the disk refuses it, only the state is lost.
    func save(_ state: PanelState) {
        guard state != self.state else { return }
        for key in PanelState.Key.allCases { file[Self.group, key.rawValue] = state.text(key) }
        file.save()
    }
}
