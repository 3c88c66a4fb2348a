// SPDX-License-Identifier: Apache-2.0

internal import CSndfile

/// What is known of a sound file once all of it was read.
package struct SoundFile: Sendable, Equatable {
    /// How it is written; what the player can read.
    package enum Format: String, Sendable {
        /// RIFF with PCM of 16 bits.
        case wav
        /// Ogg Vorbis.
        case vorbis = "oga"
    }

    /// How it is written.
    package var format: Format
    /// How long it is.
    package var durationMilliseconds: Int
    /// The loudest sample, 0 to 1.
    package var peak: Float
    /// How many samples are in runs at full scale: what a recording that was too loud leaves.
    package var clippedSampleCount: Int

    /// Reads a whole file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - durationMillisecondsMax: A longer one is not read to its end.
    /// - Throws: Why it is no sound.
    package init(path: String, durationMillisecondsMax: Int) throws(SoundFileError) {
        let file = try OpenSoundFile(path)
        format = file.format
        durationMilliseconds = file.durationMilliseconds
        peak = 0
        clippedSampleCount = 0
        guard durationMilliseconds <= durationMillisecondsMax else { return }
        var meter = SoundMeter(channelCount: file.channelCount)
        file.forEachBlock { meter.take($0) }
        // What the header says is not to be trusted.
        durationMilliseconds = meter.frameCount * 1000 / file.framesPerSecond
        peak = meter.peak
        clippedSampleCount = meter.clippedSampleCount
    }
}

/// Why a file is no sound that can be played.
package enum SoundFileError: Error, Sendable, Equatable {
    /// libsndfile cannot read it; its text.
    case unreadable(String)
    /// It can be read, but is in another format; its name.
    case otherFormat(String)
}

/// Owns one `SNDFILE *`.
@safe private final class OpenSoundFile {
    let format: SoundFile.Format
    let channelCount: Int
    let framesPerSecond: Int
    let durationMilliseconds: Int
    private let handle: OpaquePointer

    init(_ path: String) throws(SoundFileError) {
        var info = SF_INFO()
        guard let handle = unsafe sf_open(path, Int32(SFM_READ), &info) else {
            throw .unreadable(unsafe String(cString: sf_strerror(nil)))
        }
        unsafe self.handle = handle
        let (container, coding) = (Int(info.format) & SF_FORMAT_TYPEMASK, Int(info.format) & SF_FORMAT_SUBMASK)
        channelCount = Int(info.channels)
        framesPerSecond = max(1, Int(info.samplerate))
        durationMilliseconds =
            Int(clamping: info.frames.multipliedReportingOverflow(by: 1000).partialValue)
            / framesPerSecond
        switch (container, coding) {
        case (SF_FORMAT_WAV, SF_FORMAT_PCM_16), (SF_FORMAT_WAVEX, SF_FORMAT_PCM_16): format = .wav
        case (SF_FORMAT_OGG, SF_FORMAT_VORBIS): format = .vorbis
        default:
            format = .wav
            throw .otherFormat(Self.name(of: info.format))
        }
        guard (1...2).contains(channelCount) else { throw .otherFormat("\(channelCount) channels") }
    }

    deinit { _ = unsafe sf_close(handle) }

    /// Calls the body with samples, those of the channels in turn.
    func forEachBlock(_ body: (Span<Float>) -> Void) {
        var block = [Float](repeating: 0, count: 4096 * channelCount)
        while true {
            let count = unsafe Int(sf_readf_float(handle, &block, 4096))
            guard count > 0 else { return }
            body(block.span.extracting(0..<min(count * channelCount, block.count)))
        }
    }

    /// What libsndfile calls the container of a format.
    private static func name(of format: Int32) -> String {
        var info = unsafe SF_FORMAT_INFO()
        unsafe info.format = format & Int32(SF_FORMAT_TYPEMASK)
        let size = Int32(unsafe MemoryLayout<SF_FORMAT_INFO>.size)
        guard unsafe sf_command(nil, Int32(SFC_GET_FORMAT_INFO), &info, size) == 0, let name = unsafe info.name else {
            return "unknown"
        }
        return unsafe String(cString: name)
    }
}

/// Adds up what there is to know of samples.
private struct SoundMeter {
    /// A recording that was too loud stays at full scale for some samples; one sample alone may be right.
    private static let runLengthMin = 3
    private static let fullScale: Float = 0.9999

    let channelCount: Int
    private(set) var frameCount = 0
    private(set) var peak: Float = 0
    private(set) var clippedSampleCount = 0
    private var runLengths: [Int]

    init(channelCount: Int) {
        self.channelCount = channelCount
        runLengths = Array(repeating: 0, count: channelCount)
    }

    mutating func take(_ samples: Span<Float>) {
        frameCount += samples.count / channelCount
        for index in samples.indices {
            let loudness = abs(samples[index])
            peak = max(peak, loudness)
            let channel = index % channelCount
            guard loudness >= Self.fullScale else {
                runLengths[channel] = 0
                continue
            }
            runLengths[channel] += 1
            if runLengths[channel] == Self.runLengthMin {
                clippedSampleCount += Self.runLengthMin
            } else if runLengths[channel] > Self.runLengthMin {
                clippedSampleCount += 1
            }
        }
    }
}
