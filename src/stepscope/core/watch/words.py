"""What the table of conditions says to people, in both languages: labels, descriptions, advice."""

from __future__ import annotations

from typing import NamedTuple


class Text(NamedTuple):
    """One text in English and in Chinese."""

    en: str
    zh: str


LABELS = {
    "zero_percentage_ge": Text("Percentage of 0 values >=", "0值比例 >="),
    "range_start_inclusive": Text("Lower end of the range (inclusive)", "范围下界（含）"),
    "range_end_inclusive": Text("Upper end of the range (inclusive)", "范围上界（含）"),
    "range_percentage_lt": Text("Percentage of values in the range <", "在范围中的值所占百分比 <"),
    "range_percentage_gt": Text("Percentage of values in the range >", "在范围中的值所占百分比 >"),
    "max_min_lt": Text("max - min <", "MAX-MIN <"),
    "max_min_gt": Text("max - min >", "MAX-MIN >"),
    "abs_mean_gt": Text("Average of the absolute value >", "绝对值的平均值 >"),
    "abs_mean_lt": Text("Average of the absolute value <", "绝对值的平均值 <"),
    "max_gt": Text("max >", "max >"),
    "max_lt": Text("max <", "max <"),
    "min_gt": Text("min >", "min >"),
    "min_lt": Text("min <", "min <"),
    "mean_gt": Text("mean >", "mean >"),
    "mean_lt": Text("mean <", "mean <"),
    "abs_mean_update_ratio_gt": Text("Average change ratio >", "平均变化比例 >"),
    "abs_mean_update_ratio_lt": Text("Average change ratio <", "平均变化比例 <"),
    "rtol": Text("Relative tolerance", "相对容忍度"),
    "atol": Text("Absolute tolerance", "绝对容忍度"),
    "equal_nan": Text("NaN equals NaN", "NaN 视为相等"),
    "epsilon": Text("Added to the average of the previous values", "加在上一轮平均值上的小量"),
}

NAMES = {
    "operator_overflow": Text("Operator overflow", "检查计算过程溢出"),
    "tensor_all_zero": Text("Whether tensor values are all 0", "检查张量是否全为0"),
    "tensor_overflow": Text("Tensor overflow", "检查张量溢出"),
    "tensor_range": Text("Tensor value range", "检查张量值范围"),
    "tensor_too_large": Text("Tensor above threshold", "检查过大张量"),
    "tensor_too_small": Text("Tensor below threshold", "检查过小张量"),
    "weight_change_too_large": Text("Weight change above threshold", "检查权重变化过大"),
    "weight_change_too_small": Text("Weight change below threshold", "检查权重变化过小"),
    "weight_initialization": Text("Initial weight value", "检查权重初始值"),
    "weight_not_changed": Text("Unchanged weight", "检查未变化权重"),
    "weight_overflow": Text("Weight overflow", "检查权重溢出"),
    "weight_too_large": Text("Weight above threshold", "检查过大权重"),
    "weight_too_small": Text("Weight below threshold", "检查过小权重"),
    "activation_range": Text("Activation value range", "检查激活值范围"),
    "gradient_exploding": Text("Gradient explosion", "检查梯度爆炸"),
    "gradient_too_large": Text("Gradient above threshold", "检查梯度过大"),
    "gradient_vanishing": Text("Gradient disappearance", "检查梯度消失"),
}

_OVERFLOW = Text("Some value is NaN or infinite.", "存在 NaN 或无穷大的值。")
_ABOVE = Text("One of the figures is above its threshold.", "某个统计值大于所设的阈值。")
_BELOW = Text("One of the figures is below its threshold.", "某个统计值小于所设的阈值。")
_RANGE = Text(
    "The share of values in a range, or the distance between the largest and the smallest, passes its threshold.",
    "在范围中的值所占百分比，或最大值与最小值之差，超出所设的阈值。",
)
DESCRIPTIONS = {
    "operator_overflow": Text(
        "All inputs of the operator are finite, but an output is not: this is where it began.",
        "算子的输入都是有限值，输出却出现 NaN 或无穷大：问题从这里开始。",
    ),
    "tensor_all_zero": Text("The share of zeros reaches the threshold.", "0值比例达到所设的阈值。"),
    "tensor_overflow": _OVERFLOW,
    "tensor_range": _RANGE,
    "tensor_too_large": _ABOVE,
    "tensor_too_small": _BELOW,
    "weight_change_too_large": Text(
        "The average change since the step before over the average absolute value is above the threshold.",
        "与上一轮次相比的平均变化比例大于所设的阈值。",
    ),
    "weight_change_too_small": Text(
        "The average change since the step before over the average absolute value is below the threshold.",
        "与上一轮次相比的平均变化比例小于所设的阈值。",
    ),
    "weight_initialization": Text(
        "Before the first step: too many zeros, or values out of bounds.",
        "训练开始之前：0值过多，或者值超出界限。",
    ),
    "weight_not_changed": Text(
        "No value differs from the step before by more than the tolerance.", "所有值与上一轮次之差都在容忍度之内。"
    ),
    "weight_overflow": _OVERFLOW,
    "weight_too_large": _ABOVE,
    "weight_too_small": _BELOW,
    "activation_range": _RANGE,
    "gradient_exploding": _OVERFLOW,
    "gradient_too_large": _ABOVE,
    "gradient_vanishing": _BELOW,
}

_INPUTS = (Text("Are the inputs of this operator as they should be?", "请检查该算子的输入张量是否正常。"),)
_RATE = Text("Is the learning rate right?", "请检查学习率是否合适。")
_RATE_HIGH = Text("Is the learning rate too high?", "请检查学习率是否过大。")
_RATE_LOW = Text("Is the learning rate too low?", "请检查学习率是否过小。")
_GRADIENT = Text("Is the gradient as it should be?", "请检查梯度是否正常。")
_GRADIENT_LARGE = Text("Is the gradient too large?", "请检查梯度是否过大。")
_GRADIENT_SMALL = Text("Is the gradient too small?", "请检查梯度是否过小。")
_OPTIMIZER = Text("Is this the right optimizer, and is it used rightly?", "请检查优化器的选择和使用是否正确。")
_WEIGHT = (
    _RATE,
    _GRADIENT,
    _OPTIMIZER,
    Text("Was the weight out of bounds before the update already?", "请检查权重在更新之前是否已经异常。"),
)
_CHANGE = (_RATE, _GRADIENT, _OPTIMIZER)
ADVICE = {
    "operator_overflow": _INPUTS,
    "tensor_all_zero": _INPUTS,
    "tensor_overflow": _INPUTS,
    "tensor_range": _INPUTS,
    "tensor_too_large": _INPUTS,
    "tensor_too_small": _INPUTS,
    "weight_change_too_large": _CHANGE,
    "weight_change_too_small": _CHANGE,
    "weight_initialization": (
        Text("Is the weight initialised as the script means it to be?", "请检查脚本中权重的初始化算法。"),
    ),
    "weight_not_changed": (
        _RATE_LOW,
        _GRADIENT_SMALL,
        Text("Does the optimizer get this parameter at all?", "请检查优化器是否包含该参数。"),
        Text("Is the weight frozen?", "请检查权重是否被冻结。"),
    ),
    "weight_overflow": (_RATE_HIGH, _GRADIENT_LARGE, _OPTIMIZER),
    "weight_too_large": _WEIGHT,
    "weight_too_small": _WEIGHT,
    "activation_range": _INPUTS,
    "gradient_exploding": _INPUTS,
    "gradient_too_large": _INPUTS,
    "gradient_vanishing": _INPUTS,
}

ERRORS = {
    "nan": Text("the tensor contains NaN", "张量中含有 NaN"),
    "inf": Text("the tensor contains infinite values", "张量中含有无穷大"),
    "no_previous": Text("there is no value of the step before", "没有上一轮次的值"),
    "previous_nan": Text("the value of the step before contains NaN", "上一轮次的值中含有 NaN"),
    "previous_inf": Text("the value of the step before contains infinite values", "上一轮次的值中含有无穷大"),
    "previous_shape": Text("the value of the step before has another size", "上一轮次的值大小不同"),
    "no_value": Text("the tensor has no elements", "张量中没有元素"),
    "unreadable": Text("the tensor could not be read", "张量无法读取"),
}
