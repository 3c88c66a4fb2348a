// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// Pages side by side, with dots, and grids on them.
extension Widget {
    /// `adw_carousel_new`.
    static func carousel() -> Widget {
        let carousel = unsafe Widget(adw_carousel_new())
        unsafe adw_carousel_set_allow_scroll_wheel(carousel.address, 1)
        return carousel
    }

    /// `adw_carousel_indicator_dots_new`.
    static func dots(of carousel: Widget) -> Widget {
        let dots = unsafe Widget(adw_carousel_indicator_dots_new())
        unsafe adw_carousel_indicator_dots_set_carousel(dots.address, carousel.address)
        return dots
    }

    /// `adw_carousel_append`.
    func addToCarousel(_ page: Widget) { unsafe adw_carousel_append(address, page.cast()) }

    /// `adw_carousel_remove`.
    func removeFromCarousel(_ page: Widget) { unsafe adw_carousel_remove(address, page.cast()) }

    /// `adw_carousel_scroll_to`, moving unless motion is unwanted.
    func turn(to page: Widget, isMoving: Bool) { unsafe adw_carousel_scroll_to(address, page.cast(), isMoving ? 1 : 0) }

    /// `adw_carousel_get_position`, the nearest page.
    var carouselPage: Int { Int((unsafe adw_carousel_get_position(address)).rounded()) }

    /// `gtk_grid_new` with columns of the same width.
    static func grid(rowSpacing: Int, columnSpacing: Int) -> Widget {
        let grid = unsafe Widget(gtk_grid_new())
        unsafe gtk_grid_set_row_spacing(grid.cast(), UInt32(rowSpacing))
        unsafe gtk_grid_set_column_spacing(grid.cast(), UInt32(columnSpacing))
        unsafe gtk_grid_set_column_homogeneous(grid.cast(), 1)
        return grid
    }

    /// `gtk_grid_attach`.
    func attach(_ child: Widget, column: Int, row: Int) {
        unsafe gtk_grid_attach(cast(), child.cast(), Int32(column), Int32(row), 1, 1)
    }

    /// `gtk_grid_remove`.
    func detach(_ child: Widget) { unsafe gtk_grid_remove(cast(), child.cast()) }
}
