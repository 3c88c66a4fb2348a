// SPDX-License-Identifier: Apache-2.0

internal import PushAdmin

AdminProgram.main()
