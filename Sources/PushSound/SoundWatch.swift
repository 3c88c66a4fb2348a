// SPDX-License-Identifier: Apache-2.0

internal import CPulse
internal import Synchronization

/// The state of the sound server: whether output is audible, and whether a microphone is recording.
package struct SoundState: Sendable, Equatable {
    /// Whether the output is muted or its volume is 0.
    package var isMuted = false
    /// Whether a program records from a microphone.
    package var isRecording = false

    /// Creates a state in which sounds may be played.
    package init() {}
}

/// Watches PulseAudio, or PipeWire in its place, by subscription: the server is queried only after a change.
///
/// Without a sound server, the state permits sounds. Callbacks run on the library's own thread.
@safe package final class SoundWatch: Sendable {
    private let observer: SoundObserver

    /// Starts watching.
    ///
    /// - Parameter onChange: Called on the library's thread with each new state, and with the first state of each
    ///   connection, even if no server is running.
    package init(onChange: @escaping @Sendable (SoundState) -> Void) { observer = SoundObserver(onChange) }

    /// Reconnects after a lost connection; cheap if the connection exists.
    ///
    /// - Returns: Whether a connection was started, so that a state will be reported.
    @discardableResult package func ensureConnected() -> Bool { observer.ensureConnected() }

    deinit { observer.stop() }
}

/// The owner of a `pa_threaded_mainloop *` and of the context on it.
// Safety: everything in it is used under the main loop's lock, which callbacks hold.
@safe private final class SoundObserver: @unchecked Sendable {
    private let loop: OpaquePointer?
    private var context: OpaquePointer?
    private let onChange: @Sendable (SoundState) -> Void
    /// The state that was last reported for this connection.
    private var state: SoundState?
    private var draft = SoundState()
    /// The sources that are microphones rather than monitors of the output.
    private var microphones: Set<UInt32> = []

    init(_ onChange: @escaping @Sendable (SoundState) -> Void) {
        self.onChange = onChange
        unsafe loop = pa_threaded_mainloop_new()
        guard let loop = unsafe loop, unsafe pa_threaded_mainloop_start(loop) == 0 else { return }
        unsafe pa_threaded_mainloop_lock(loop)
        unsafe connect(loop)
        unsafe pa_threaded_mainloop_unlock(loop)
    }

    func stop() {
        guard let loop = unsafe loop else { return }
        unsafe pa_threaded_mainloop_lock(loop)
        disconnect()
        unsafe pa_threaded_mainloop_unlock(loop)
        unsafe pa_threaded_mainloop_stop(loop)
        unsafe pa_threaded_mainloop_free(loop)
    }

    func ensureConnected() -> Bool {
        guard let loop = unsafe loop else { return false }
        unsafe pa_threaded_mainloop_lock(loop)
        defer { unsafe pa_threaded_mainloop_unlock(loop) }
        let isGood = unsafe context.map { unsafe PA_CONTEXT_IS_GOOD(pa_context_get_state($0)) != 0 } ?? false
        guard !isGood else { return false }
        disconnect()
        state = nil
        unsafe connect(loop)
        return true
    }

    private var pointer: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

    private func connect(_ loop: OpaquePointer) {
        guard let context = unsafe pa_context_new(pa_threaded_mainloop_get_api(loop), "Posthorn") else { return }
        unsafe self.context = context
        unsafe pa_context_set_state_callback(
            context,
            { context, user in
                guard let context = unsafe context else { return }
                unsafe SoundObserver.of(user).stateChanged(context)
            }, pointer)
        _ = unsafe pa_context_connect(context, nil, PA_CONTEXT_NOAUTOSPAWN, nil)
    }

    private func disconnect() {
        guard let context = unsafe context else { return }
        unsafe pa_context_set_state_callback(context, nil, nil)
        unsafe pa_context_set_subscribe_callback(context, nil, nil)
        unsafe pa_context_disconnect(context)
        unsafe pa_context_unref(context)
        unsafe self.context = nil
    }

    private func stateChanged(_ context: OpaquePointer) {
        switch unsafe pa_context_get_state(context) {
        case PA_CONTEXT_READY:
            unsafe pa_context_set_subscribe_callback(
                context,
                { context, _, _, user in
                    guard let context = unsafe context else { return }
                    unsafe SoundObserver.of(user).ask(context)
                }, pointer)
            let mask = pa_subscription_mask_t(
                PA_SUBSCRIPTION_MASK_SINK.rawValue | PA_SUBSCRIPTION_MASK_SOURCE_OUTPUT.rawValue
                    | PA_SUBSCRIPTION_MASK_SERVER.rawValue)
            unsafe Self.forget(pa_context_subscribe(context, mask, nil, nil))
            unsafe ask(context)
        case PA_CONTEXT_FAILED, PA_CONTEXT_TERMINATED: tell(SoundState())
        default: break
        }
    }

    // MARK: Queries, each of which starts the next

    private func ask(_ context: OpaquePointer) {
        draft = SoundState()
        unsafe Self.forget(
            pa_context_get_server_info(
                context,
                { context, info, user in
                    guard let context = unsafe context, let name = unsafe info?.pointee.default_sink_name else {
                        return
                    }
                    unsafe SoundObserver.of(user).askSink(context, name)
                }, pointer))
    }

    private func askSink(_ context: OpaquePointer, _ name: UnsafePointer<CChar>) {
        unsafe Self.forget(
            pa_context_get_sink_info_by_name(
                context, name,
                { context, info, end, user in
                    guard let context = unsafe context else { return }
                    let observer = unsafe SoundObserver.of(user)
                    if end == 0, let info = unsafe info {
                        var volume = unsafe info.pointee.volume
                        observer.draft.isMuted =
                            unsafe info.pointee.mute != 0 || pa_cvolume_max(&volume) == PA_VOLUME_MUTED
                    } else {
                        unsafe observer.askSources(context)
                    }
                }, pointer))
    }

    private func askSources(_ context: OpaquePointer) {
        microphones = []
        unsafe Self.forget(
            pa_context_get_source_info_list(
                context,
                { context, info, end, user in
                    guard let context = unsafe context else { return }
                    let observer = unsafe SoundObserver.of(user)
                    if end == 0, let info = unsafe info {
                        guard unsafe info.pointee.monitor_of_sink == UInt32.max else { return }
                        unsafe observer.microphones.insert(info.pointee.index)
                    } else {
                        unsafe observer.askRecordings(context)
                    }
                }, pointer))
    }

    private func askRecordings(_ context: OpaquePointer) {
        unsafe Self.forget(
            pa_context_get_source_output_info_list(
                context,
                { _, info, end, user in
                    let observer = unsafe SoundObserver.of(user)
                    guard end == 0, let info = unsafe info else { return observer.tell(observer.draft) }
                    // A volume control only meters the level.
                    let isMeter = unsafe info.pointee.resample_method.map { unsafe String(cString: $0) } == "peaks"
                    let isMicrophone = unsafe observer.microphones.contains(info.pointee.source)
                    if unsafe info.pointee.corked == 0, isMicrophone, !isMeter { observer.draft.isRecording = true }
                }, pointer))
    }

    private func tell(_ new: SoundState) {
        guard new != state else { return }
        state = new
        onChange(new)
    }

    private static func of(_ user: UnsafeMutableRawPointer?) -> SoundObserver {
        guard let user = unsafe user else { preconditionFailure("a callback came without its observer") }
        // Safety: callbacks occur while the context lives, and `stop` ends it under the lock before the observer is
        // deallocated.
        return unsafe Unmanaged<SoundObserver>.fromOpaque(user).takeUnretainedValue()
    }

    private static func forget(_ operation: OpaquePointer?) {
        if let operation = unsafe operation { unsafe pa_operation_unref(operation) }
    }
}
