// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A file of values that a program keeps between two runs, in the user's state directory (`GKeyFile`).
@safe
package final class StateFile {
    private let file: OpaquePointer
    private let folder: String
    private let path: String

    /// Reads a file; a missing or invalid file reads as empty.
    ///
    /// - Parameters:
    ///   - name: The name of the file.
    ///   - folderName: The name of its directory in `XDG_STATE_HOME`.
    package init(_ name: String, inFolder folderName: String) {
        folder = unsafe String(cString: g_get_user_state_dir()) + "/" + folderName
        path = folder + "/" + name
        unsafe file = g_key_file_new()
        // Opening a pipe would wait for its other end.
        guard unsafe g_file_test(path, G_FILE_TEST_IS_REGULAR) != 0 else { return }
        unsafe _ = g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, nil)
    }

    deinit { unsafe g_key_file_unref(file) }

    /// The value of a key in a group (`g_key_file_get_string`); nil removes the key.
    package subscript(group: String, key: String) -> String? {
        get {
            guard let text = unsafe g_key_file_get_string(file, group, key, nil) else { return nil }
            defer { unsafe g_free(text) }
            return unsafe String(cString: text)
        }
        set {
            guard let newValue else {
                unsafe _ = g_key_file_remove_key(file, group, key, nil)
                return
            }
            unsafe g_key_file_set_string(file, group, key, newValue)
        }
    }

    /// Writes the file atomically (`g_key_file_save_to_file`); returns false if the disk refuses it.
    @discardableResult
    package func save() -> Bool {
        guard unsafe g_mkdir_with_parents(folder, 0o700) == 0 else { return false }
        return unsafe g_key_file_save_to_file(file, path, nil) != 0
    }
}
