// SPDX-License-Identifier: Apache-2.0

internal import PushAdmin
internal import PushNet

AdminProgram.main(ProcessFacts.arguments)
