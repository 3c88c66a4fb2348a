// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

extension Widget {
    /// Creates a carousel of pages with `adw_carousel_new`.
    package static func carousel() -> Widget {
        let carousel = unsafe Widget(adw_carousel_new())
        unsafe adw_carousel_set_allow_scroll_wheel(carousel.address, 1)
        return carousel
    }

    /// Creates page dots with `adw_carousel_indicator_dots_new`.
    package static func dots(of carousel: Widget) -> Widget {
        let dots = unsafe Widget(adw_carousel_indicator_dots_new())
        unsafe adw_carousel_indicator_dots_set_carousel(dots.address, carousel.address)
        return dots
    }

    /// Appends a page with `adw_carousel_append`.
    package func addToCarousel(_ page: Widget) { unsafe adw_carousel_append(address, page.cast()) }

    /// Removes a page with `adw_carousel_remove`.
    package func removeFromCarousel(_ page: Widget) { unsafe adw_carousel_remove(address, page.cast()) }

    /// Scrolls to a page with `adw_carousel_scroll_to`, with an animation if `isMoving` is true.
    package func turn(to page: Widget, isMoving: Bool) {
        unsafe adw_carousel_scroll_to(address, page.cast(), isMoving ? 1 : 0)
    }

    /// The nearest page (`adw_carousel_get_position`).
    package var carouselPage: Int { Int((unsafe adw_carousel_get_position(address)).rounded()) }

    /// Creates a `gtk_grid_new` with columns of equal width.
    package static func grid(rowSpacing: Int, columnSpacing: Int) -> Widget {
        let grid = unsafe Widget(gtk_grid_new())
        unsafe gtk_grid_set_row_spacing(grid.cast(), UInt32(rowSpacing))
        unsafe gtk_grid_set_column_spacing(grid.cast(), UInt32(columnSpacing))
        unsafe gtk_grid_set_column_homogeneous(grid.cast(), 1)
        return grid
    }

    /// Adds a child with `gtk_grid_attach`.
    package func attach(_ child: Widget, column: Int, row: Int) {
        unsafe gtk_grid_attach(cast(), child.cast(), Int32(column), Int32(row), 1, 1)
    }

    /// Removes a child with `gtk_grid_remove`.
    package func detach(_ child: Widget) { unsafe gtk_grid_remove(cast(), child.cast()) }
}
