// SPDX-License-Identifier: Apache-2.0

/// The layout of the app grid: the icons per page and the number of pages.
struct GridPlan: Equatable, Sendable {
    /// The number of icons in a row.
    var columns: Int
    /// The number of rows on a page.
    var rows: Int
    /// The number of pages, at least 1.
    var pages: Int

    /// The size of a tile with its label and margins, in pixels.
    static let (tileWidth, tileHeight) = (96, 120)
    /// The maximum width of the grid in pixels, at the normal text size.
    static let widthMax = 680
    /// The part of a tile's height that scales with the text size, in pixels.
    static let textHeight = 18
    /// The maximum number of pages; beyond it, one long page scrolls, because the page dots would be too small.
    static let pageCountMax = 10

    /// Computes the layout.
    ///
    /// - Parameters:
    ///   - count: The number of icons.
    ///   - width: The width of the space in pixels.
    ///   - height: The height of the space in pixels.
    ///   - textScale: The user's text scaling factor; larger names need more space.
    init(count: Int, width: Int, height: Int, textScale: Double = 1) {
        columns = max(1, Int(Double(width) / (Double(Self.tileWidth) * textScale)))
        rows = max(1, Int(Double(height) / (Double(Self.tileHeight) + Double(Self.textHeight) * (textScale - 1))))
        pages = max(1, (count + columns * rows - 1) / (columns * rows))
    }

    /// Whether all icons are on one long page that scrolls.
    var scrolls: Bool { pages > Self.pageCountMax }

    /// Returns whether every icon has the same place in another layout.
    func keepsPlaces(of other: GridPlan?) -> Bool {
        other.map { columns == $0.columns && rows == $0.rows && scrolls == $0.scrolls } ?? false
    }

    /// Returns the place of an icon.
    func place(_ index: Int) -> (page: Int, row: Int, column: Int) {
        guard !scrolls else { return (0, index / columns, index % columns) }
        let (page, rest) = index.quotientAndRemainder(dividingBy: columns * rows)
        return (page, rest / columns, rest % columns)
    }
}
