// A station under ns3::DefaultPowerSaveManager: built and run by peer_manager.py, which says what for.
//
// Access point - (802.11b, 5 m) - station, without IP. Data at 11 Mbit/s, beacons every 102.4 ms without jitter. Arguments:
// PsmTimeout and ListenAdvance in ms, the seconds measured, the size of a packet in bytes, and the times at which the access
// point sends one, in s since the 20th beacon. It prints the seconds for which the station was awake.

#include "ns3/core-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/wifi-module.h"

#include <iostream>

using namespace ns3;

static const Time BEACON = MicroSeconds(102'400);
static const Time START = 20 * BEACON;
static Time g_asleep;

static void Leaves(Time since, Time lasts, WifiPhyState state)
{
    if (state == WifiPhyState::SLEEP)
    {
        g_asleep += Max(since + lasts - Max(since, START), Time{0});
    }
}

int main(int count, char** arguments)
{
    auto number = [=](int place) { return std::stod(arguments[place]); };
    auto milliseconds = [=](int place) { return TimeValue(MicroSeconds(std::llround(1000 * number(place)))); };
    // As in peer_air_ns3.cc: frames are not dropped after 500 ms in a queue, and the station keeps its association.
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1e6)));
    Config::SetDefault("ns3::StaWifiMac::MaxMissedBeacons", UintegerValue(1'000'000));
    NodeContainer nodes;
    nodes.Create(2);
    YansWifiPhyHelper phy;
    phy.SetChannel(YansWifiChannelHelper::Default().Create());
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue("DsssRate11Mbps"));
    auto name = SsidValue(Ssid("manager"));
    WifiMacHelper mac;
    mac.SetType("ns3::ApWifiMac", "Ssid", name, "BeaconInterval", TimeValue(BEACON), "EnableBeaconJitter", BooleanValue(false));
    auto accessPoint = wifi.Install(phy, mac, nodes.Get(0)).Get(0);
    mac.SetType("ns3::StaWifiMac", "Ssid", name);
    mac.SetPowerSaveManager("ns3::DefaultPowerSaveManager", "PowerSaveMode", StringValue("0 true"),
                            "PsmTimeout", milliseconds(1), "ListenAdvance", milliseconds(2));
    auto station = DynamicCast<WifiNetDevice>(wifi.Install(phy, mac, nodes.Get(1)).Get(0));
    auto places = CreateObject<ListPositionAllocator>();
    places->Add(Vector(0, 0, 0));
    places->Add(Vector(5, 0, 0));
    MobilityHelper mobility;
    mobility.SetPositionAllocator(places);
    mobility.Install(nodes);
    station->GetPhy()->GetState()->TraceConnectWithoutContext("State", MakeCallback(&Leaves));
    uint32_t bytes = number(4);
    for (int place = 5; place < count; ++place)
    {
        Simulator::Schedule(START + Seconds(number(place)), [=] {
            accessPoint->Send(Create<Packet>(bytes), station->GetAddress(), 0x0800);
        });
    }
    Simulator::Stop(START + Seconds(number(3)));
    Simulator::Run();
    std::cout << number(3) - g_asleep.GetSeconds() << "\n";
}
