// SPDX-License-Identifier: Apache-2.0

/// How many icons fit on a page of the app grid, and how many pages there are.
package struct GridPlan: Equatable, Sendable {
    /// Icons side by side.
    package var columns: Int
    /// Icons one below the other.
    package var rows: Int
    /// Pages; one when there is nothing.
    package var pages: Int

    /// A tile with its label, and the space around it.
    static let (tileWidth, tileHeight) = (96, 120)
    /// The part of a tile's height that its label has.
    static let textHeight = 18
    /// More pages than this are one long one, which scrolls: dots would be too many to tell apart.
    static let pageCountMax = 10

    /// Fits icons into a space.
    ///
    /// - Parameters:
    ///   - count: How many icons.
    ///   - width: Of the space, in pixels.
    ///   - height: Of the space, in pixels.
    ///   - textScale: How much larger than usual the person's text is: names need more space then.
    package init(count: Int, width: Int, height: Int, textScale: Double = 1) {
        columns = max(1, Int(Double(width) / (Double(Self.tileWidth) * textScale)))
        rows = max(1, Int(Double(height) / (Double(Self.tileHeight) + Double(Self.textHeight) * (textScale - 1))))
        pages = max(1, (count + columns * rows - 1) / (columns * rows))
    }

    /// Whether it is one long page.
    package var scrolls: Bool { pages > Self.pageCountMax }

    /// Whether an icon stands where it stood by another plan.
    package func keepsPlaces(of other: GridPlan?) -> Bool {
        other.map { columns == $0.columns && rows == $0.rows && scrolls == $0.scrolls } ?? false
    }

    /// Where an icon stands.
    package func place(_ index: Int) -> (page: Int, row: Int, column: Int) {
        guard !scrolls else { return (0, index / columns, index % columns) }
        let (page, rest) = index.quotientAndRemainder(dividingBy: columns * rows)
        return (page, rest / columns, rest % columns)
    }
}
