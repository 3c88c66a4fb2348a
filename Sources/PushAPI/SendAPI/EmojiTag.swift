// SPDX-License-Identifier: Apache-2.0

/// The emojis of frequent tags.
///
/// - SeeAlso: ntfy's documentation, "Emoji reference"
enum EmojiTag {
    /// Returns the emoji of a tag; nil for a tag that is a word.
    static func emoji(_ tag: String) -> String? { emojis[tag] }

    private static let emojis: [String: String] = [
        "+1": "👍", "-1": "👎", "alarm_clock": "⏰", "ambulance": "🚑", "arrow_down": "⬇️", "arrow_up": "⬆️",
        "arrows_counterclockwise": "🔄", "ballot_box_with_check": "☑️", "bangbang": "‼️", "bar_chart": "📊",
        "battery": "🔋", "bell": "🔔", "birthday": "🎂", "blue_circle": "🔵", "bomb": "💣", "book": "📖", "boom": "💥",
        "bug": "🐛", "bulb": "💡", "calendar": "📆", "camera": "📷", "cd": "💿", "chart_with_downwards_trend": "📉",
        "chart_with_upwards_trend": "📈", "clap": "👏", "clock1": "🕐", "closed_lock_with_key": "🔐", "cloud": "☁️",
        "computer": "💻", "construction": "🚧", "cop": "👮", "credit_card": "💳", "door": "🚪", "dollar": "💵",
        "dog": "🐶", "droplet": "💧", "electric_plug": "🔌", "email": "📧", "envelope": "✉️", "exclamation": "❗",
        "eyes": "👀", "facepalm": "🤦", "file_folder": "📁", "fire": "🔥", "fire_engine": "🚒", "floppy_disk": "💾",
        "gear": "⚙️", "ghost": "👻", "gift": "🎁", "globe_with_meridians": "🌐", "green_circle": "🟢",
        "grey_exclamation": "❕",
        "grey_question": "❔", "hammer": "🔨", "hammer_and_wrench": "🛠️", "heart": "❤️", "heavy_check_mark": "✔️",
        "heavy_exclamation_mark": "❗", "hourglass": "⌛", "house": "🏠", "inbox_tray": "📥",
        "information_source": "ℹ️", "key": "🔑", "lock": "🔒", "loudspeaker": "📢", "mag": "🔍", "mailbox": "📫",
        "mega": "📣", "memo": "📝", "moneybag": "💰", "mute": "🔇", "negative_squared_cross_mark": "❎",
        "no_entry": "⛔", "no_entry_sign": "🚫", "ok_hand": "👌", "orange_circle": "🟠", "outbox_tray": "📤", "package": "📦",
        "partying_face": "🥳", "phone": "☎️", "pill": "💊", "printer": "🖨️", "question": "❓", "radioactive": "☢️",
        "rage": "😡", "raised_hands": "🙌", "recycle": "♻️", "red_circle": "🔴", "robot": "🤖", "rocket": "🚀",
        "rotating_light": "🚨", "satellite": "📡", "shield": "🛡️", "shopping_cart": "🛒", "skull": "💀", "snowflake": "❄️",
        "sos": "🆘", "sparkles": "✨", "speech_balloon": "💬", "star": "⭐", "stop_sign": "🛑", "stopwatch": "⏱️",
        "sunny": "☀️", "tada": "🎉", "telephone": "☎️", "thermometer": "🌡️", "thumbsdown": "👎", "thumbsup": "👍",
        "tools": "🛠️", "triangular_flag_on_post": "🚩", "trophy": "🏆", "truck": "🚚", "unlock": "🔓", "umbrella": "☔",
        "warning": "⚠️", "wastebasket": "🗑️", "watch": "⌚", "wave": "👋", "white_check_mark": "✅", "white_circle": "⚪",
        "wrench": "🔧", "x": "❌", "yellow_circle": "🟡", "zap": "⚡", "zzz": "💤",
    ]
}
