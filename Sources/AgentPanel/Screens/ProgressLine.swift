// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit

/// A line above the tabs with a progress bar and a Stop button.
final class ProgressLine {
    let widget: Box
    private let text = Label("", .cut(lines: 1)).styled("caption")
    private let bar = ProgressBar()

    /// Creates a hidden line.
    init(onStop: @escaping () -> Void) {
        let texts = Box.column(spacing: 6, text, bar).aligned(down: .center).expanding(across: true)
        let stop = Button(tr("Stop"), onStop).styled("touch", "text-button").aligned(down: .center)
        widget = Box.row(spacing: 12, texts, stop).styled("progress-line")
        widget.isVisible = false
    }

    /// Shows the progress; nil hides the line.
    func show(_ progress: EntryClearing.Progress?) {
        widget.isVisible = progress != nil
        guard let progress, progress.count > 0 else { return }
        let (done, count) = ("\(progress.doneCount)", "\(progress.count)")
        text.setText(Texts.fill(tr("Clearing notifications: %1 of %2"), done, count))
        bar.setFraction(Double(progress.doneCount) / Double(progress.count))
        bar.named(Texts.fill(tr("Clearing notifications: %1 of %2"), done, count))
    }
}
