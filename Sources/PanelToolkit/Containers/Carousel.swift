// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A row of pages of which one is visible (`AdwCarousel`).
package final class Carousel: Widget {
    /// Creates a row without pages.
    package init() {
        unsafe super.init(adw_carousel_new())
        unsafe adw_carousel_set_allow_scroll_wheel(address, 1)
    }

    /// Appends a page with `adw_carousel_append`.
    package func append(_ page: Widget) { unsafe adw_carousel_append(address, page.cast()) }

    /// Removes a page with `adw_carousel_remove`.
    package func remove(_ page: Widget) { unsafe adw_carousel_remove(address, page.cast()) }

    /// Scrolls to a page with `adw_carousel_scroll_to`, with an animation if `isMoving` is true.
    package func turn(to page: Widget, isMoving: Bool) {
        unsafe adw_carousel_scroll_to(address, page.cast(), isMoving ? 1 : 0)
    }

    /// The index of the nearest page (`adw_carousel_get_position`).
    package var page: Int { Int((unsafe adw_carousel_get_position(address)).rounded()) }
}

/// A dot for each page of a carousel (`AdwCarouselIndicatorDots`).
package final class CarouselDots: Widget {
    /// Creates the dots of a carousel.
    package init(of carousel: Carousel) {
        unsafe super.init(adw_carousel_indicator_dots_new())
        unsafe adw_carousel_indicator_dots_set_carousel(address, carousel.address)
    }
}
