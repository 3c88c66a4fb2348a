// SPDX-License-Identifier: Apache-2.0

internal import CSndfile

/// The properties of a sound file after all of it was read.
package struct SoundFile: Sendable, Equatable {
    /// The file formats that the player can read.
    package enum Format: String, Sendable {
        /// RIFF with 16-bit PCM.
        case wav
        /// Vorbis in an Ogg container.
        case vorbis = "oga"
    }

    package var format: Format
    /// The duration in milliseconds.
    package var durationMilliseconds: Int
    /// The loudest sample, 0 to 1.
    package var peak: Float
    /// The number of samples in runs at full scale, which indicate a recording that was too loud.
    package var clippedSampleCount: Int

    /// Reads a whole file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - durationMillisecondsMax: The longest duration; a longer file is not read to its end.
    /// - Throws: The reason why the file cannot be played.
    package init(path: String, durationMillisecondsMax: Int) throws(SoundFileError) {
        let file = try OpenSoundFile(path)
        format = file.format
        durationMilliseconds = file.durationMilliseconds
        peak = 0
        clippedSampleCount = 0
        guard durationMilliseconds <= durationMillisecondsMax else { return }
        var meter = SoundMeter(channelCount: file.channelCount)
        file.forEachBlock { meter.take($0) }
        // Counted, because the header cannot be trusted.
        durationMilliseconds = meter.frameCount * 1000 / file.framesPerSecond
        peak = meter.peak
        clippedSampleCount = meter.clippedSampleCount
    }
}

/// The reasons why a file cannot be played.
package enum SoundFileError: Error, Sendable, Equatable {
    /// libsndfile cannot read it; contains libsndfile's text.
    case unreadable(String)
    /// The file is readable, but has another format; contains the format's name.
    case otherFormat(String)
}

/// An open sound file; owns one `SNDFILE *`.
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

    /// Calls the body with blocks of samples, with the channels interleaved.
    func forEachBlock(_ body: (Span<Float>) -> Void) {
        var block = [Float](repeating: 0, count: 4096 * channelCount)
        while true {
            let count = unsafe Int(sf_readf_float(handle, &block, 4096))
            guard count > 0 else { return }
            body(block.span.extracting(0..<min(count * channelCount, block.count)))
        }
    }

    /// Returns libsndfile's name for the container of a format.
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

/// A meter for the peak and the clipping of samples.
private struct SoundMeter {
    /// The shortest run that counts as clipping: a recording that was too loud stays at full scale for some samples,
    /// but a single sample may be valid.
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
