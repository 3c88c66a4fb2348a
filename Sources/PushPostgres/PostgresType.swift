// SPDX-License-Identifier: Apache-2.0

internal import CPQ

/// The types of values that this module sends and reads; the raw value is the object ID in `pg_type`.
enum PostgresType: Oid {
    /// The server derives the type of the parameter.
    case derived = 0
    case bool = 16
    case bytea = 17
    case name = 19
    case int8 = 20
    case int2 = 21
    case int4 = 23
    case text = 25
    case byteaArray = 1001
    case int8Array = 1016
    case bpchar = 1042
    case varchar = 1043
}
