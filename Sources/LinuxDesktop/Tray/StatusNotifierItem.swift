// SPDX-License-Identifier: Apache-2.0

internal import PushDBus

/// The protocol `org.kde.StatusNotifierItem`, apart from the connection.
enum StatusNotifierItem {
    static let path = "/StatusNotifierItem"
    static let menuPath = "/StatusNotifierItem/Menu"
    static let interface = "org.kde.StatusNotifierItem"

    /// Returns the signals that tell a tray about a change.
    static func signals(from earlier: TrayContent, to content: TrayContent) -> [TrayMenu.Signal] {
        var signals: [TrayMenu.Signal] = []
        if earlier.title != content.title { signals.append(.init(member: "NewTitle", arguments: [])) }
        if earlier.iconName != content.iconName { signals.append(.init(member: "NewIcon", arguments: [])) }
        if earlier.toolTip != content.toolTip { signals.append(.init(member: "NewToolTip", arguments: [])) }
        if earlier.label != content.label {
            signals.append(
                .init(member: "XAyatanaNewLabel", arguments: [.text(content.label), .string(labelGuide)]))
        }
        return signals
    }

    /// A text as wide as the longest label.
    private static let labelGuide = "99+"

    /// Returns the properties of the item.
    ///
    /// The status is always `Active`, because some trays hide a `Passive` item completely, and with it the switch for
    /// Do Not Disturb; `NeedsAttention` is meant for conditions such as an empty battery.
    ///
    /// - Parameters:
    ///   - content: The state that the item shows.
    ///   - id: The name of the program, which stays the same.
    /// - Returns: The properties with their names.
    static func properties(of content: TrayContent, id: String) -> [(String, BusValue)] {
        let pictures = BusValue.array("(iiay)", [])
        return [
            ("Category", .string("Communications")), ("Id", .string(id)), ("Title", .text(content.title)),
            ("Status", .string("Active")), ("WindowId", .int32(0)), ("IconThemePath", .string("")),
            ("IconName", .string(content.iconName)), ("IconPixmap", pictures),
            ("IconAccessibleDesc", .text(content.toolTip)),
            ("OverlayIconName", .string("")), ("OverlayIconPixmap", pictures),
            ("AttentionIconName", .string("")), ("AttentionIconPixmap", pictures),
            ("AttentionMovieName", .string("")),
            ("ToolTip", .structure([.string(""), pictures, .text(content.title), .text(content.toolTip)])),
            ("ItemIsMenu", .bool(false)), ("Menu", .objectPath(menuPath)),
            ("XAyatanaLabel", .text(content.label)), ("XAyatanaLabelGuide", .string(labelGuide)),
        ]
    }

    /// The properties of the menu as an object.
    static let menuProperties: [(String, BusValue)] = [
        ("Version", .uint32(3)), ("TextDirection", .string("ltr")), ("Status", .string("normal")),
        ("IconThemePath", .strings([])),
    ]

    /// Answers a call of `org.freedesktop.DBus.Properties`.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - properties: The properties of the object, none of which can be set.
    ///   - interface: The interface that has the properties.
    /// - Returns: The answer.
    static func answer(
        _ call: IncomingCall, _ properties: [(String, BusValue)], of interface: String
    ) -> Result<[BusValue], BusError> {
        let words = call.arguments.prefix(2).map { $0.stringValue ?? "" }
        guard let named = words.first, named.isEmpty || named == interface else {
            return .failure(.invalidArguments("the object has no properties of this interface"))
        }
        switch call.member {
        case "GetAll": return .success([.dictionary(properties)])
        case "Get":
            guard words.count == 2, let property = properties.first(where: { $0.0 == words[1] }) else {
                return .failure(.invalidArguments("the object has no such property"))
            }
            return .success([.variant(property.1)])
        case "Set":
            return .failure(
                BusError(
                    name: "org.freedesktop.DBus.Error.PropertyReadOnly", message: "the property cannot be set"))
        default: return .failure(.unknownMethod(call.member))
        }
    }
}

extension BusError {
    /// Creates the error for a method that the object does not have.
    static func unknownMethod(_ member: String) -> BusError {
        BusError(name: unknownMethodName, message: "there is no method \(member)")
    }
}

extension StatusNotifierItem {
    /// The description of the item.
    static let introspection: StaticString = """
        <node>
         <interface name="org.kde.StatusNotifierItem">
          <property name="Category" type="s" access="read"/>
          <property name="Id" type="s" access="read"/>
          <property name="Title" type="s" access="read"/>
          <property name="Status" type="s" access="read"/>
          <property name="WindowId" type="i" access="read"/>
          <property name="IconThemePath" type="s" access="read"/>
          <property name="IconName" type="s" access="read"/>
          <property name="IconPixmap" type="a(iiay)" access="read"/>
          <property name="IconAccessibleDesc" type="s" access="read"/>
          <property name="OverlayIconName" type="s" access="read"/>
          <property name="OverlayIconPixmap" type="a(iiay)" access="read"/>
          <property name="AttentionIconName" type="s" access="read"/>
          <property name="AttentionIconPixmap" type="a(iiay)" access="read"/>
          <property name="AttentionMovieName" type="s" access="read"/>
          <property name="ToolTip" type="(sa(iiay)ss)" access="read"/>
          <property name="ItemIsMenu" type="b" access="read"/>
          <property name="Menu" type="o" access="read"/>
          <property name="XAyatanaLabel" type="s" access="read"/>
          <property name="XAyatanaLabelGuide" type="s" access="read"/>
          <method name="Activate"><arg name="x" type="i"/><arg name="y" type="i"/></method>
          <method name="SecondaryActivate"><arg name="x" type="i"/><arg name="y" type="i"/></method>
          <method name="ContextMenu"><arg name="x" type="i"/><arg name="y" type="i"/></method>
          <method name="Scroll"><arg name="delta" type="i"/><arg name="orientation" type="s"/></method>
          <method name="ProvideXdgActivationToken"><arg name="token" type="s"/></method>
          <signal name="NewTitle"/>
          <signal name="NewIcon"/>
          <signal name="NewToolTip"/>
          <signal name="NewStatus"><arg name="status" type="s"/></signal>
          <signal name="XAyatanaNewLabel"><arg name="label" type="s"/><arg name="guide" type="s"/></signal>
         </interface>
        </node>
        """

    /// The description of the menu.
    static let menuIntrospection: StaticString = """
        <node>
         <interface name="com.canonical.dbusmenu">
          <property name="Version" type="u" access="read"/>
          <property name="TextDirection" type="s" access="read"/>
          <property name="Status" type="s" access="read"/>
          <property name="IconThemePath" type="as" access="read"/>
          <method name="GetLayout">
           <arg name="parentId" type="i"/><arg name="recursionDepth" type="i"/><arg name="propertyNames" type="as"/>
           <arg name="revision" type="u" direction="out"/><arg name="layout" type="(ia{sv}av)" direction="out"/>
          </method>
          <method name="GetGroupProperties">
           <arg name="ids" type="ai"/><arg name="propertyNames" type="as"/>
           <arg name="properties" type="a(ia{sv})" direction="out"/>
          </method>
          <method name="GetProperty">
           <arg name="id" type="i"/><arg name="name" type="s"/><arg name="value" type="v" direction="out"/>
          </method>
          <method name="Event">
           <arg name="id" type="i"/><arg name="eventId" type="s"/><arg name="data" type="v"/>
           <arg name="timestamp" type="u"/>
          </method>
          <method name="EventGroup">
           <arg name="events" type="a(isvu)"/><arg name="idErrors" type="ai" direction="out"/>
          </method>
          <method name="AboutToShow">
           <arg name="id" type="i"/><arg name="needUpdate" type="b" direction="out"/>
          </method>
          <method name="AboutToShowGroup">
           <arg name="ids" type="ai"/><arg name="updatesNeeded" type="ai" direction="out"/>
           <arg name="idErrors" type="ai" direction="out"/>
          </method>
          <signal name="ItemsPropertiesUpdated">
           <arg name="updatedProps" type="a(ia{sv})"/><arg name="removedProps" type="a(ias)"/>
          </signal>
          <signal name="LayoutUpdated"><arg name="revision" type="u"/><arg name="parent" type="i"/></signal>
          <signal name="ItemActivationRequested"><arg name="id" type="i"/><arg name="timestamp" type="u"/></signal>
         </interface>
        </node>
        """
}
