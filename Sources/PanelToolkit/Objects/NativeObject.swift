// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// An object of GTK, libadwaita or GIO; owns one reference.
///
/// Each subclass wraps one class of the libraries and creates its objects. The comments of methods name the C
/// functions.
@safe
package class NativeObject {
    /// The object's address, never nil, because the libraries stop the process when memory runs out.
    let address: OpaquePointer

    /// Takes the floating reference of a new object, or adds a reference to a borrowed one (`g_object_ref_sink`).
    init(_ address: OpaquePointer?) {
        unsafe self.address = NativeObject.present(address)
        unsafe g_object_ref_sink(UnsafeMutableRawPointer(self.address))
    }

    /// Wraps an object of a class whose layout Swift knows, as the other initializer does.
    init<Object>(_ object: UnsafeMutablePointer<Object>?) {
        unsafe address = NativeObject.present(OpaquePointer(object))
        unsafe g_object_ref_sink(UnsafeMutableRawPointer(address))
    }

    /// Takes ownership of the reference of a new object that is not a widget.
    init(adopting address: OpaquePointer?) { unsafe self.address = NativeObject.present(address) }

    deinit { unsafe g_object_unref(UnsafeMutableRawPointer(address)) }

    private static func present(_ address: OpaquePointer?) -> OpaquePointer {
        guard let address = unsafe address else { preconditionFailure("GTK returned no object") }
        return unsafe address
    }

    /// Casts the pointer, as GTK's cast macros do, which Swift cannot import.
    ///
    /// The cast is internal, because only the wrapper of an object knows its class.
    func cast<Object>() -> UnsafeMutablePointer<Object> { unsafe UnsafeMutablePointer<Object>(address) }
}
